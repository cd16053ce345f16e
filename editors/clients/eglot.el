;;; eglot.el --- Emacs and eglot against the real program -*- lexical-binding: t -*-

;; Run by test_editors.py: emacs -Q --batch -l eglot.el, in a workspace, with
;; coderag-ls on PATH. The command that asks is read from the documentation page.
(require 'cl-lib)
(require 'eglot)
(require 'python)

(setq eglot-sync-connect 30
      eglot-autoshutdown nil
      eglot-events-buffer-size 0
      make-backup-files nil)
(add-to-list 'eglot-server-programs
             '(python-mode . ("coderag-ls" "serve" "--stdio")))

(defvar failures 0)

(defmacro check (name &rest body)
  "Say whether BODY is true under NAME."
  `(let ((ok (condition-case err (progn ,@body)
               (error (message "  %S" err) nil))))
     (unless ok (setq failures (1+ failures)))
     (message "%s %s" (if ok "ok" "not ok") ,name)))

(defun wait-until (condition)
  "Wait until CONDITION holds; its value, or nil after a minute."
  (let ((deadline (+ (float-time) 60)) value)
    (while (and (not (setq value (funcall condition))) (< (float-time) deadline))
      (accept-process-output nil 0.05))
    value))

(find-file "src/requests/cookies.py")
(call-interactively #'eglot)
(defvar server (eglot-current-server))
(check "eglot connects" server)
(jsonrpc-request server :coderag/sync '(:scan t) :timeout 60)

(check "the server is coderag-ls"
       (equal (plist-get (eglot--server-info server) :name) "coderag-ls"))

(check "hover explains a symbol"
       (goto-char (point-min))
       (search-forward "def merge_cookies")
       (let ((hover (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams))))
         (string-match-p "merge_cookies" (plist-get (plist-get hover :contents) :value))))

(check "coderag/ask answers with citations"
       (let* ((answer (jsonrpc-request server :coderag/ask
                                       '(:query "how are cookies merged into a session?" :filters #s(hash-table))
                                       :timeout 60)))
         (and (> (length (plist-get answer :citations)) 1)
              (string-match-p "\\[src/requests/" (plist-get answer :answer)))))

(check "the page's command shows an answer whose citations open"
       (let ((code (with-temp-buffer
                     (insert-file-contents (expand-file-name "emacs.md" (getenv "CODERAG_TEST_PAGES")))
                     (search-forward "(defun coderag-ask")
                     (goto-char (match-beginning 0))
                     (read (current-buffer)))))
         (eval code t)
         (save-window-excursion
           (coderag-ask "how are cookies merged into a session?")
           (set-buffer "*coderag*")
           (goto-char (point-min))
           (forward-button 1)
           (push-button)
           (and (string-match-p "src/requests/" (buffer-file-name)) (> (line-number-at-pos) 1)))))

(check "an unsaved edit counts at once"
       (goto-char (point-min))
       (insert "# new\n")
       (eglot--signal-textDocument/didChange)
       (let* ((answer (jsonrpc-request server :coderag/ask
                                       '(:query "what does merge_cookies do?" :filters #s(hash-table))
                                       :timeout 60)))
         (cl-some (lambda (c) (and (equal (plist-get c :path) "src/requests/cookies.py")
                                   (= (plist-get c :startLine) 543)))
                  (plist-get answer :citations))))

(check "a code action inserts a cited snippet, undo takes it back"
       (with-current-buffer (find-file-noselect "mine.py")
         (insert "# how are cookies merged into a session\n\n")
         (python-mode)
         (setq buffer-undo-list nil)
         (unless (eglot-managed-p) (eglot--maybe-activate-editing-mode))
         (eglot--signal-textDocument/didChange)
         (jsonrpc-request server :coderag/sync nil :timeout 60)
         (goto-char (+ (point-min) 4))
         (let* ((actions (jsonrpc-request
                          server :textDocument/codeAction
                          (list :textDocument (eglot--TextDocumentIdentifier)
                                :range (list :start (eglot--pos-to-lsp-position) :end (eglot--pos-to-lsp-position))
                                :context '(:diagnostics [] :only ["refactor.insert.coderag"] :triggerKind 1))
                          :timeout 60))
                (edit (plist-get (elt actions 0) :edit))
                (before (buffer-string)))
           (eglot--apply-workspace-edit edit nil)
           (and (string-match-p "sha256:[0-9a-f]\\{8\\}" (buffer-string))
                (progn (while (null (car buffer-undo-list)) (pop buffer-undo-list)) ; boundaries
                       (primitive-undo 1 buffer-undo-list)
                       (equal (buffer-string) before))))))

(check "citations that moved are diagnosed by Flymake"
       (with-current-buffer (find-file-noselect "drift.py")
         (insert (format "# src/requests/cookies.py:1-3 sha256:%s\n" (getenv "CODERAG_TEST_SHA8")))
         (python-mode)
         (flymake-mode 1)
         (unless (eglot-managed-p) (eglot--maybe-activate-editing-mode))
         (eglot--signal-textDocument/didChange)
         (jsonrpc-request server :coderag/sync nil :timeout 60)
         (wait-until (lambda ()
                       (flymake-start)
                       (cl-some (lambda (d) (string-match-p "have moved" (flymake-diagnostic-text d)))
                                (flymake-diagnostics))))))

(check "the server shuts down in order"
       (let ((process (jsonrpc--process server)))
         (eglot-shutdown server nil 30)
         (wait-until (lambda () (not (process-live-p process))))))

(message "%d failed" failures)
(kill-emacs (if (> failures 0) 1 0))
