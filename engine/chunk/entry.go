package chunk

import (
	"path"
	"sort"
	"strings"
)

// entry is an entry point: where the program, or a request to it, starts.
type entry struct {
	line int
	text string
}

// entryPoints finds HTTP routes, main functions, commands and handlers, and
// lists each in the chunk that holds its line.
func (w *worker) entryPoints(chunks []Chunk) {
	if w.in.Class.SourceType != "" && w.in.Class.SourceType != "code" || len(w.defs) == 0 && len(w.imports) == 0 && !looseRoutes(w.in.Class.Language) {
		return
	}
	var found []entry
	add := func(line int, text string) { found = append(found, entry{line, text}) }
	w.mains(add)
	w.handlers(add)
	for i := range w.c.frameworks {
		if f := &w.c.frameworks[i]; f.serves(w) {
			f.find(w, add)
		}
	}
	if len(found) == 0 {
		return
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].line < found[j].line })
	for _, e := range found {
		k := sort.Search(len(chunks), func(k int) bool { return chunks[k].EndLine >= e.line })
		if k < len(chunks) && chunks[k].StartLine <= e.line {
			chunks[k].EntryPoints = distinct(append(chunks[k].EntryPoints, strings.Clone(e.text)))
		}
	}
}

// looseRoutes reports whether a language's entry points may stand in files without
// definitions and imports.
func looseRoutes(language string) bool {
	switch language {
	case "ruby", "python", "php", "javascript", "typescript", "shell", "perl":
		return true
	}
	return false
}

// mains finds what an operating system starts.
func (w *worker) mains(add func(int, string)) {
	language := w.in.Class.Language
	for i := range w.defs {
		d := &w.defs[i]
		if d.Kind != Function && d.Kind != Method || d.Name != "main" && d.Name != "Main" && d.Name != "wmain" && d.Name != "WinMain" {
			continue
		}
		switch language {
		case "go":
			if d.Parent == "" && strings.HasPrefix(d.Signature, "func main()") && strings.Contains(w.src.text[:min(len(w.src.text), 64<<10)], "package main") {
				add(d.NameLine, "main")
			}
		case "java", "c#", "groovy":
			if hasWord(d.Signature, "static") {
				add(d.NameLine, "main")
			}
		case "c", "c++", "objective-c", "rust", "kotlin", "swift", "dart", "scala", "zig", "haskell", "d", "nim", "v", "odin", "objective-c++":
			if d.Parent == "" || language == "scala" || language == "kotlin" {
				add(d.NameLine, "main")
			}
		}
	}
	if language == "python" {
		w.each("__name__", func(i int) {
			if strings.Contains(w.lineFrom(i), "__main__") && strings.HasPrefix(w.src.line(w.src.lineAt(i)), "if ") {
				add(w.src.lineAt(i), "main")
			}
		})
	}
	if strings.HasPrefix(w.src.text, "#!") {
		add(1, "script "+path.Base(w.in.Path))
	}
}

// handlers finds exported functions that frameworks call by their name or shape.
func (w *worker) handlers(add func(int, string)) {
	language := w.in.Class.Language
	file := path.Base(w.in.Path)
	for i := range w.defs {
		d := &w.defs[i]
		if d.Kind != Function && d.Kind != Method {
			continue
		}
		switch language {
		case "go":
			if strings.Contains(d.Signature, "http.ResponseWriter") && strings.Contains(d.Signature, "*http.Request") && (d.Exported || d.Name == "ServeHTTP") {
				add(d.NameLine, "handler "+d.Name)
			}
		case "python":
			if d.Name == "lambda_handler" || d.Name == "handler" && strings.Contains(d.Signature, "event") {
				add(d.NameLine, "handler "+d.Name)
			}
		case "javascript", "typescript", "tsx":
			if !d.Exported {
				continue
			}
			if strings.HasPrefix(file, "route.") && (d.Name == "GET" || d.Name == "POST" || d.Name == "PUT" || d.Name == "PATCH" || d.Name == "DELETE") {
				add(d.NameLine, d.Name+" "+nextRoute(w.in.Path))
			} else if d.Name == "handler" {
				add(d.NameLine, "handler "+d.Name)
			}
		}
	}
}

// nextRoute is the route of a Next.js route file: its folders under app/.
func nextRoute(p string) string {
	dir := "/" + path.Dir(p)
	if i := strings.LastIndex(dir, "/app/"); i >= 0 {
		return dir[i+len("/app"):]
	}
	return "/"
}

// framework finds the entry points of one way to write them.
type framework struct {
	languages string   // separated by blanks
	imports   []string // one of these is part of an import's target; none: always
	needles   []string // what a line of interest holds
	read      func(w *worker, at int, needle string) string
}

func (f *framework) serves(w *worker) bool {
	if !containsWord(f.languages, strings.ReplaceAll(w.in.Class.Language, " ", "-")) {
		return false
	}
	if len(f.imports) == 0 {
		return true
	}
	for i := range w.imports {
		for _, m := range f.imports {
			if strings.Contains(w.imports[i].Target, m) {
				return true
			}
		}
	}
	return false
}

func (f *framework) find(w *worker, add func(int, string)) {
	for _, needle := range f.needles {
		w.each(needle, func(i int) {
			if text := f.read(w, i, needle); text != "" {
				add(w.src.lineAt(i), text)
			}
		})
	}
}

// each calls f for each place where the text holds the word.
func (w *worker) each(word string, f func(at int)) {
	for from := 0; ; {
		i := strings.Index(w.src.text[from:], word)
		if i < 0 {
			return
		}
		f(from + i)
		from += i + len(word)
	}
}

// lineFrom is the rest of the line from an offset on.
func (w *worker) lineFrom(at int) string {
	rest := w.src.text[at:]
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return rest[:i]
	}
	return rest
}

// lineBefore is what stands before an offset on its line, without indentation.
func (w *worker) lineBefore(at int) string {
	return strings.TrimLeft(w.src.text[w.src.starts[w.src.lineAt(at)-1]:at], " \t")
}

// frameworks are the ways to write routes and commands that are known.
func frameworks() []framework {
	const ecma = "javascript typescript tsx"
	return []framework{
		{"go", []string{"net/http", "gorilla/mux", "httprouter"}, []string{"HandleFunc(", ".Handle("}, goRoute},
		{"go", []string{"gin", "chi", "echo", "fiber", "mux", "httprouter"}, []string{".GET(", ".POST(", ".PUT(", ".PATCH(", ".DELETE(", ".Get(", ".Post(", ".Put(", ".Patch(", ".Delete("}, verbRoute},
		{"go", []string{"cobra"}, []string{"cobra.Command{"}, cobraCommand},
		{"go", []string{"urfave/cli"}, []string{"cli.Command{"}, urfaveCommand},
		{"python", []string{"flask", "fastapi", "sanic", "quart", "starlette", "bottle", "aiohttp", "litestar", "."}, []string{".route(", ".get(", ".post(", ".put(", ".patch(", ".delete(", ".websocket("}, pythonRoute},
		{"python", []string{"django"}, []string{"path(", "re_path("}, djangoRoute},
		{"python", []string{"click", "typer"}, []string{".command(", ".group("}, clickCommand},
		{"python", []string{"argparse"}, []string{".add_parser("}, argparseCommand},
		{ecma, nil, []string{".get(", ".post(", ".put(", ".patch(", ".delete("}, expressRoute},
		{ecma, []string{"nestjs"}, []string{"@Get(", "@Post(", "@Put(", "@Patch(", "@Delete("}, nestRoute},
		{ecma, []string{"commander", "yargs", "cac"}, []string{".command("}, quotedCommand},
		{"java kotlin groovy", []string{"springframework"}, []string{"@GetMapping", "@PostMapping", "@PutMapping", "@PatchMapping", "@DeleteMapping", "@RequestMapping"}, springRoute},
		{"java kotlin", []string{"ws.rs"}, []string{"@Path("}, jaxRoute},
		{"c#", nil, []string{"[HttpGet", "[HttpPost", "[HttpPut", "[HttpPatch", "[HttpDelete", ".MapGet(", ".MapPost(", ".MapPut(", ".MapDelete("}, aspRoute},
		{"ruby", nil, []string{"get ", "post ", "put ", "patch ", "delete ", "resources :", "root "}, railsRoute},
		{"php", nil, []string{"Route::", "#[Route("}, phpRoute},
		{"rust", []string{"actix_web", "rocket", "axum", "poem"}, []string{"#[get(", "#[post(", "#[put(", "#[patch(", "#[delete(", ".route("}, rustRoute},
		{"elixir", nil, []string{"get \"", "post \"", "put \"", "patch \"", "delete \""}, phoenixRoute},
		{"protocol-buffer", nil, []string{"rpc "}, rpcMethod},
	}
}

// route writes a verb and a path; "" where the path is none.
func route(verb, p string, ok bool) string {
	if !ok || p == "" || strings.ContainsAny(p, " \t") {
		return ""
	}
	return verb + " " + p
}

// quotedArgument is the first argument of a call where it is a string.
func quotedArgument(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t\n")
	if s == "" || s[0] != '"' && s[0] != '\'' && s[0] != '`' {
		return "", false
	}
	i := strings.IndexByte(s[1:], s[0])
	if i < 0 || i > 200 {
		return "", false
	}
	return s[1 : i+1], true
}

// after is the text behind a needle, for as far as arguments may reach.
func (w *worker) after(at int, needle string) string {
	from := at + len(needle)
	return w.src.text[from:min(len(w.src.text), from+400)]
}

func goRoute(w *worker, at int, needle string) string {
	p, ok := quotedArgument(w.after(at, needle))
	if verb, rest, has := strings.Cut(p, " "); has { // "GET /users" since Go 1.22
		return route(verb, rest, ok)
	}
	if !strings.HasPrefix(p, "/") {
		return ""
	}
	return route("ANY", p, ok)
}

func verbRoute(w *worker, at int, needle string) string {
	p, ok := quotedArgument(w.after(at, needle))
	if !strings.HasPrefix(p, "/") && p != "" || p == "" && !ok {
		return ""
	}
	if p == "" {
		p = "/"
	}
	return route(strings.ToUpper(strings.Trim(needle, ".(")), p, ok)
}

func cobraCommand(w *worker, at int, needle string) string {
	_, rest, ok := strings.Cut(w.after(at, needle), "Use:")
	use, quoted := quotedArgument(rest)
	if use, _, _ = strings.Cut(use, " "); !ok || !quoted || use == "" {
		return ""
	}
	return "cobra: " + use
}

func urfaveCommand(w *worker, at int, needle string) string {
	_, rest, _ := strings.Cut(w.after(at, needle), "Name:")
	if name, ok := quotedArgument(rest); ok {
		return "cli: " + name
	}
	return ""
}

func pythonRoute(w *worker, at int, needle string) string {
	if before := w.lineBefore(at); !strings.HasPrefix(before, "@") {
		return ""
	}
	args := w.after(at, needle)
	p, ok := quotedArgument(args)
	if !strings.HasPrefix(p, "/") {
		return ""
	}
	verb := strings.ToUpper(strings.Trim(needle, ".("))
	if verb == "ROUTE" {
		verb = "GET"
		line, _, _ := strings.Cut(args, "\n")
		if _, methods, has := strings.Cut(line, "methods="); has {
			if list, _, closed := strings.Cut(strings.TrimLeft(methods, "[( "), "]"); closed {
				verb = strings.NewReplacer("\"", "", "'", "", " ", "", ",", "|").Replace(list)
			}
		}
	}
	return route(verb, p, ok)
}

func djangoRoute(w *worker, at int, needle string) string {
	if at > 0 && wordByte(w.src.text[at-1]) {
		return ""
	}
	args := strings.TrimPrefix(w.after(at, needle), "r")
	p, ok := quotedArgument(args)
	return route("URL", "/"+strings.TrimPrefix(p, "^"), ok)
}

func clickCommand(w *worker, at int, needle string) string {
	if !strings.HasPrefix(w.lineBefore(at), "@") {
		return ""
	}
	if name, ok := quotedArgument(w.after(at, needle)); ok {
		return "command " + name
	}
	line := w.src.lineAt(at)
	for i := range w.defs {
		if d := &w.defs[i]; d.StartLine <= line && d.NameLine > line && d.Kind != Class {
			return "command " + strings.ReplaceAll(d.Name, "_", "-")
		}
	}
	return ""
}

func argparseCommand(w *worker, at int, needle string) string {
	if name, ok := quotedArgument(w.after(at, needle)); ok {
		return "command " + name
	}
	return ""
}

func quotedCommand(w *worker, at int, needle string) string {
	name, ok := quotedArgument(w.after(at, needle))
	if name, _, _ = strings.Cut(name, " "); !ok || name == "" {
		return ""
	}
	return "command " + name
}

// routers are the names that servers and routers usually go by.
func router(before string) bool {
	i := len(before)
	for i > 0 && wordByte(before[i-1]) {
		i--
	}
	switch name := strings.ToLower(before[i:]); name {
	case "app", "router", "server", "api", "fastify", "routes", "route", "r":
		return true
	default:
		return strings.HasSuffix(name, "router") || strings.HasSuffix(name, "app")
	}
}

func expressRoute(w *worker, at int, needle string) string {
	if !router(w.lineBefore(at)) {
		return ""
	}
	p, ok := quotedArgument(w.after(at, needle))
	if !strings.HasPrefix(p, "/") && p != "*" {
		return ""
	}
	return route(strings.ToUpper(strings.Trim(needle, ".(")), p, ok)
}

func nestRoute(w *worker, at int, needle string) string {
	p, _ := quotedArgument(w.after(at, needle))
	return route(strings.ToUpper(strings.Trim(needle, "@(")), "/"+strings.TrimPrefix(p, "/"), true)
}

func springRoute(w *worker, at int, needle string) string {
	verb := strings.ToUpper(strings.TrimSuffix(needle[1:], "Mapping"))
	if verb == "REQUEST" {
		verb = "ANY"
	}
	args := w.after(at, needle)
	p := ""
	if strings.HasPrefix(args, "(") {
		args, _, _ = strings.Cut(args[1:], ")")
		if _, m, ok := strings.Cut(args, "RequestMethod."); ok {
			verb = firstWord(m)
		}
		if i := strings.IndexByte(args, '"'); i >= 0 {
			p, _ = quotedArgument(args[i:])
		}
	}
	return route(verb, "/"+strings.TrimPrefix(p, "/"), true)
}

func jaxRoute(w *worker, at int, needle string) string {
	p, ok := quotedArgument(w.after(at, needle))
	return route("PATH", "/"+strings.TrimPrefix(p, "/"), ok)
}

func aspRoute(w *worker, at int, needle string) string {
	verb := strings.ToUpper(strings.NewReplacer("[Http", "", ".Map", "", "(", "").Replace(needle))
	args := strings.TrimPrefix(w.after(at, needle), "(")
	p, ok := quotedArgument(args)
	if needle[0] == '.' && !ok {
		return ""
	}
	return route(verb, "/"+strings.TrimPrefix(p, "/"), true)
}

func railsRoute(w *worker, at int, needle string) string {
	if w.lineBefore(at) != "" {
		return ""
	}
	args := w.after(at, needle)
	if needle == "resources :" {
		return "RESOURCES /" + firstWord(args)
	}
	if needle == "root " {
		if strings.HasPrefix(args, "to:") || strings.HasPrefix(args, "'") || strings.HasPrefix(args, "\"") {
			return "GET /"
		}
		return ""
	}
	p, ok := quotedArgument(args)
	if ok && !strings.HasPrefix(p, "/") && !strings.HasSuffix(w.in.Path, "routes.rb") {
		return ""
	}
	return route(strings.ToUpper(strings.TrimSpace(needle)), "/"+strings.TrimPrefix(p, "/"), ok)
}

func phpRoute(w *worker, at int, needle string) string {
	args := w.after(at, needle)
	if needle == "#[Route(" {
		p, ok := quotedArgument(args)
		return route("ANY", p, ok)
	}
	verb := firstWord(args)
	switch verb {
	case "get", "post", "put", "patch", "delete", "any", "resource", "apiResource":
	default:
		return ""
	}
	p, ok := quotedArgument(strings.TrimPrefix(args[len(verb):], "("))
	return route(strings.ToUpper(verb), "/"+strings.TrimPrefix(p, "/"), ok)
}

func rustRoute(w *worker, at int, needle string) string {
	args := w.after(at, needle)
	p, ok := quotedArgument(args)
	verb := strings.ToUpper(strings.Trim(needle, "#[.("))
	if verb == "ROUTE" {
		verb = "ANY"
		for _, v := range [...]string{"get(", "post(", "put(", "patch(", "delete("} {
			if line, _, _ := strings.Cut(args, "\n"); strings.Contains(line, v) {
				verb = strings.ToUpper(v[:len(v)-1])
				break
			}
		}
	}
	return route(verb, p, ok && strings.HasPrefix(p, "/"))
}

func phoenixRoute(w *worker, at int, needle string) string {
	if w.lineBefore(at) != "" {
		return ""
	}
	verb, _, _ := strings.Cut(needle, " ")
	p, ok := quotedArgument(w.src.text[at+len(verb) : min(len(w.src.text), at+300)])
	return route(strings.ToUpper(verb), p, ok && strings.HasPrefix(p, "/"))
}

func rpcMethod(w *worker, at int, needle string) string {
	if w.lineBefore(at) != "" {
		return ""
	}
	name := firstWord(w.after(at, needle))
	if name == "" {
		return ""
	}
	line := w.src.lineAt(at)
	for i := range w.defs {
		if d := &w.defs[i]; d.NameLine == line && d.Parent != "" {
			return "rpc " + d.Parent + "." + name
		}
	}
	return "rpc " + name
}
