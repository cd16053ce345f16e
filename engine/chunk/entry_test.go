package chunk_test

import (
	"strings"
	"testing"

	"coderag-ls/engine/chunk"
)

func TestB9EntryPoints(t *testing.T) {
	for _, test := range []struct{ path, src, want string }{
		{"main.go", "package main\n\nfunc main() {}\n", "main"},
		{"x.go", "package x\n\nfunc main() {}\n", ""},
		{"x.go", "package x\n\nimport \"net/http\"\n\nfunc f(m *http.ServeMux) {\n\tm.HandleFunc(\"GET /users/{id}\", g)\n\thttp.Handle(\"/static/\", s)\n}\n", "GET /users/{id},ANY /static/"},
		{"x.go", "package x\n\nimport \"net/http\"\n\nfunc Users(w http.ResponseWriter, r *http.Request) {}\n", "handler Users"},
		{"x.go", "package x\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc f(r *gin.Engine) {\n\tr.GET(\"/a\", h)\n\tx.Get(\"notaroute\")\n}\n", "GET /a"},
		{"x.go", "package x\n\nimport \"github.com/go-chi/chi/v5\"\n\nfunc f(r chi.Router) {\n\tr.Post(\"/b\", h)\n}\n", "POST /b"},
		{"x.go", "package x\n\nimport \"github.com/spf13/cobra\"\n\nvar c = &cobra.Command{\n\tUse:   \"serve [flags]\",\n}\n", "cobra: serve"},
		{"x.go", "package x\n\nfunc f() {\n\tcache.Get(\"/a\")\n}\n", ""},
		{"x.py", "from flask import Flask\napp = Flask(__name__)\n\n@app.route(\"/login\", methods=[\"GET\", \"POST\"])\ndef login():\n    pass\n", "GET|POST /login"},
		{"x.py", "from fastapi import FastAPI\napp = FastAPI()\n\n@app.get('/items/{id}')\nasync def item(id): pass\n", "GET /items/{id}"},
		{"urls.py", "from django.urls import path\nurlpatterns = [\n    path('users/', views.users),\n]\n", "URL /users/"},
		{"x.py", "import click\n\n@click.command()\ndef sync_all(): pass\n\nif __name__ == '__main__':\n    sync_all()\n", "command sync-all,main"},
		{"x.py", "import argparse\n\ndef f(sub):\n    sub.add_parser('build')\n", "command build"},
		{"x.py", "d = {}\nd.get('/x')\n", ""},
		{"x.js", "const app = express();\napp.get('/users', (req, res) => {});\nrouter.delete(\"/users/:id\", f);\nmap.get('/no');\n", "GET /users,DELETE /users/:id"},
		{"app/api/users/route.ts", "export async function GET(req: Request) { return 1 }\n", "GET /api/users"},
		{"x.ts", "import { Get } from '@nestjs/common';\nexport class C {\n  @Get('cats')\n  cats() { return 1 }\n}\n", "GET /cats"},
		{"X.java", "import org.springframework.web.bind.annotation.*;\nclass X {\n  @GetMapping(\"/a\")\n  int a() { return 1; }\n  @RequestMapping(value = \"/b\", method = RequestMethod.POST)\n  int b() { return 1; }\n  public static void main(String[] args) {}\n}\n", "GET /a,POST /b,main"},
		{"X.cs", "using Microsoft.AspNetCore.Mvc;\nclass X {\n  [HttpGet(\"a\")]\n  public int A() { return 1; }\n}\n", "GET /a"},
		{"config/routes.rb", "Rails.application.routes.draw do\n  get 'a', to: 'a#b'\n  resources :users\nend\n", "GET /a,RESOURCES /users"},
		{"routes/web.php", "<?php\nRoute::get('/a', [A::class, 'b']);\n", "GET /a"},
		{"x.rs", "use axum::routing::get;\nfn app() -> Router {\n    Router::new().route(\"/a\", get(h))\n}\nfn main() {}\n", "GET /a,main"},
		{"x.proto", "service S {\n  rpc Get(A) returns (B);\n}\n", "rpc S.Get"},
		{"tool.sh", "#!/bin/sh\necho hi\n", "script tool.sh"},
		{"x.c", "int main(int argc, char **argv) { return 0; }\n", "main"},
	} {
		c := chunk.New(chunk.Options{})
		f, _ := chunkOf(c, test.path, test.src)
		c.Close()
		var got []string
		for _, k := range f.Chunks {
			got = append(got, k.EntryPoints...)
		}
		if strings.Join(got, ",") != test.want {
			t.Errorf("%s\n%s: got %q, want %q", test.path, test.src, got, test.want)
		}
	}
}
