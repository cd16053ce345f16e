package file

import (
	"path"
	"strings"
)

// The built-in rules name only what no one writes by hand: version control,
// dependency trees, caches and build output. Names that are also used for
// source ("build", "dist", "target", "vendor", "bin") count only beside or
// around the build tool's own files: go/build and cmd/dist are packages.
// "third_party" is source that its repository keeps, and is indexed.

// isVCS reports whether a directory (or a submodule's .git file) belongs to a
// version control system. These are never opened, whatever the settings say.
func isVCS(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", "CVS", ".sl", ".fslckout":
		return true
	}
	return false
}

// excludedDir says why a directory of that name holds nothing that people
// write, "" where it may. beside are the build files next to it.
func excludedDir(name string, beside buildFiles) string {
	switch name {
	case "node_modules", "bower_components", "jspm_packages", ".pnpm-store", ".yarn",
		"site-packages", "Pods", "elm-stuff", ".bundle", ".pub-cache", ".dart_tool", ".eggs":
		return "dependencies"
	case "__pycache__", ".venv", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis",
		".ipynb_checkpoints", ".cache", ".parcel-cache", ".turbo", ".sass-cache", ".eslintcache", ".nyc_output", "htmlcov",
		".gradle", ".cxx", "DerivedData", ".terraform", ".terragrunt-cache", ".serverless", ".aws-sam", ".vagrant",
		".next", ".nuxt", ".svelte-kit", ".angular", ".docusaurus", ".vercel", ".netlify", ".output",
		".stack-work", "dist-newstyle", ".zig-cache", "zig-cache", "zig-out", ".cpcache", ".shadow-cljs", ".lsp",
		".idea", ".vs", ".fleet", ".history", ".direnv", ".metals", ".bloop", ".bsp", ".ccls-cache", ".clangd",
		".Trash", ".DS_Store", "$RECYCLE.BIN", "System Volume Information", "lost+found":
		return "a tool's cache or output"
	case "target":
		if beside&(cargo|maven|sbt|leiningen) != 0 {
			return "build output"
		}
	case "build":
		if beside&(gradle|setuptools|flutter) != 0 {
			return "build output"
		}
	case "dist":
		if beside&(npm|setuptools) != 0 {
			return "build output"
		}
	case "bin", "obj":
		if beside&dotnet != 0 {
			return "build output"
		}
	case "_build":
		if beside&(mix|dune|rebar) != 0 {
			return "build output"
		}
	case "deps":
		if beside&mix != 0 {
			return "dependencies"
		}
	}
	switch {
	case strings.HasSuffix(name, ".egg-info"), strings.HasSuffix(name, ".dist-info"):
		return "a package's metadata"
	case strings.HasPrefix(name, "cmake-build-"):
		return "build output"
	}
	return ""
}

// buildFiles is a set of build tools by the files that mark their projects.
type buildFiles uint32

const (
	cargo buildFiles = 1 << iota
	maven
	sbt
	leiningen
	gradle
	setuptools
	flutter
	npm
	dotnet
	mix
	dune
	rebar
)

func buildFile(name string) buildFiles {
	switch name {
	case "Cargo.toml":
		return cargo
	case "pom.xml":
		return maven
	case "build.sbt":
		return sbt
	case "project.clj":
		return leiningen
	case "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts":
		return gradle
	case "setup.py", "pyproject.toml", "setup.cfg":
		return setuptools
	case "pubspec.yaml":
		return flutter
	case "package.json":
		return npm
	case "mix.exs":
		return mix
	case "dune-project":
		return dune
	case "rebar.config":
		return rebar
	}
	switch path.Ext(name) {
	case ".csproj", ".fsproj", ".vbproj":
		return dotnet
	}
	return 0
}

// excludedAround says why a directory that holds a file of that name is not
// indexed, "" where the name says nothing. dir is the directory's base name.
func excludedAround(dir, name string) string {
	switch name {
	case "CACHEDIR.TAG": // https://bford.info/cachedir/
		return "a cache (CACHEDIR.TAG)"
	case "pyvenv.cfg", "conda-meta":
		return "a Python environment"
	case "CMakeCache.txt":
		return "build output"
	case "modules.txt", "autoload.php":
		if dir == "vendor" {
			return "dependencies"
		}
	}
	return ""
}

// secretFile reports whether a file of that name usually holds a secret, by the
// pattern that says so.
func secretFile(name string) string {
	lower := strings.ToLower(name)
	ext := path.Ext(lower)
	switch ext {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".gpg", ".pgp", ".ovpn",
		".agekey", ".p8", ".keytab", ".tfstate", ".pkcs12", ".mobileprovision":
		return "*" + ext
	case ".env":
		return "*.env"
	}
	switch lower {
	case ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".htpasswd", ".git-credentials", ".dockercfg",
		".dockerconfigjson", "kubeconfig", ".vault-token", ".my.cnf", ".s3cfg", ".boto", ".terraformrc", "terraform.rc":
		return lower
	}
	switch {
	case strings.HasPrefix(lower, ".env."), strings.HasPrefix(lower, ".env-"), strings.HasPrefix(lower, ".env_"):
		switch lower[len(".env."):] {
		case "example", "sample", "template", "dist", "defaults", "default", "tpl", "schema":
			return ""
		}
		return ".env*"
	case strings.HasPrefix(lower, "id_") && (ext == "" || ext == ".pub"):
		return "id_*"
	case strings.HasSuffix(lower, ".tfstate.backup"):
		return "*.tfstate"
	}
	if !dataExt(ext) {
		return "" // credentials.go, secrets_test.py: code about secrets
	}
	stem := strings.TrimSuffix(lower, ext)
	switch {
	case strings.HasPrefix(stem, "credentials"), strings.HasPrefix(stem, ".credentials"):
		return "credentials*"
	case stem == "secrets", stem == ".secrets", strings.HasPrefix(stem, "client_secret"):
		return "secrets*"
	case strings.HasPrefix(stem, "service-account"), strings.HasPrefix(stem, "service_account"), strings.HasPrefix(stem, "serviceaccount"):
		if ext == ".json" {
			return "service-account*.json"
		}
	}
	return ""
}

func dataExt(ext string) bool {
	switch ext {
	case "", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".csv", ".xml", ".txt", ".enc", ".bak", ".plist":
		return true
	}
	return false
}

// secretDir reports whether a directory of that name holds keys.
func secretDir(name string) bool {
	switch name {
	case ".ssh", ".gnupg", ".azure", ".kube", ".password-store":
		return true
	}
	return false
}

// binaryFile says what a file is that its name alone shows not to be text, ""
// where only its bytes tell.
func binaryFile(name string) string {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".png", ".jpg", ".jpeg", ".gif", ".bmp", ".ico", ".icns", ".tif", ".tiff", ".webp", ".avif", ".heic", ".psd", ".xcf", ".svgz":
		return "image"
	case ".mp3", ".mp4", ".m4a", ".wav", ".flac", ".ogg", ".oga", ".ogv", ".opus", ".aac", ".avi", ".mov", ".mkv", ".webm", ".wmv", ".mpg", ".mpeg", ".mid", ".midi":
		return "audio or video"
	case ".zip", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".lz4", ".br", ".7z", ".rar", ".tar", ".jar", ".war", ".ear", ".aar", ".apk", ".ipa",
		".deb", ".rpm", ".dmg", ".iso", ".cab", ".msi", ".whl", ".egg", ".gem", ".nupkg", ".crate", ".vsix", ".xpi":
		return "archive"
	case ".exe", ".dll", ".so", ".dylib", ".a", ".lib", ".o", ".obj", ".ko", ".class", ".pyc", ".pyo", ".pyd", ".wasm", ".beam", ".elc", ".rlib", ".rmeta", ".pdb", ".ilk", ".gch", ".pch", ".hi", ".cmi", ".cmo", ".cmx", ".bc", ".syso":
		return "compiled"
	case ".ttf", ".otf", ".woff", ".woff2", ".eot", ".pfb":
		return "font"
	case ".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".odt", ".ods", ".odp", ".epub", ".mobi":
		return "document"
	case ".db", ".sqlite", ".sqlite3", ".db3", ".mdb", ".accdb", ".parquet", ".arrow", ".feather", ".avro", ".orc", ".h5", ".hdf5", ".npy", ".npz", ".mat", ".rds", ".rdata", ".pkl", ".pickle", ".joblib",
		".onnx", ".pb", ".pt", ".pth", ".ckpt", ".safetensors", ".tflite", ".gguf", ".ggml", ".caffemodel", ".bin", ".pack", ".swf", ".blend", ".fbx", ".glb", ".stl", ".ser", ".dex", ".nib", ".xcuserstate", ".lockb":
		return "binary data"
	}
	return ""
}

// machineFile says what a text file is that its name alone shows to be made by
// a machine and to be of no use to a reader.
func machineFile(name string) string {
	lower := strings.ToLower(name)
	for _, end := range [...]string{".min.js", ".min.mjs", ".min.cjs", ".min.css", "-min.js", "-min.css"} {
		if strings.HasSuffix(lower, end) {
			return "minified by its name"
		}
	}
	for _, end := range [...]string{".js.map", ".mjs.map", ".cjs.map", ".css.map", ".ts.map", ".wasm.map"} {
		if strings.HasSuffix(lower, end) {
			return "source map"
		}
	}
	return ""
}
