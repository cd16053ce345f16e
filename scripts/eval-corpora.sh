#!/bin/sh
# Gets the projects that the suites under eval/ ask about, as source packages of
# their registries at pinned versions: scripts/eval-corpora.sh [DIR]. DIR is
# .cache/eval by default. Each package is compared with its SHA-256 before it is
# unpacked. What cannot be had (no client, no network) is left out and said;
# `coderag-ls eval` leaves its questions out.
set -eu

cd "$(dirname "$0")/.."
dir=${1:-.cache/eval}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
what=eval-corpora
. scripts/packages.sh

pypi tenacity 9.0.0 807f37ca97d62aa361264d497b0e31e92b8027044942bfa756160d908320d73b
pypi structlog 24.4.0 b27bfecede327a6d2da5fbc96bd859f114ecc398a6389d664f62085ee7ae6fc4
npm_package fastify 4.28.1 df149dcab400c90ed4b703d77381d7c6a47dc394c76f2491ff3a8647d332854b
npm_package ajv 8.17.1 f09dae78b8cc984dbf178eba92a7b19bff9e5f7c990508f3af0bf8f118770308
npm_package ws 8.18.0 a08221f2851472c944ca0178d89a9888c7f43fbd9998afc8a7ec6fe417c4ca20
go_module raft github.com/hashicorp/raft v1.7.1 92e730b317663d60895ca43ff8d1c991b6df11dfc6b767f209a796540a00bf43
go_module websocket github.com/gorilla/websocket v1.5.3 dbbd31dd0f08548c5dc43e4c2f12bbba66abff5252b224b1cd06afbb72783a76
crate ureq 2.10.1 b74fc6b57825be3373f7054754755f03ac3a8f5d70015ccad699ba2029956f4a
crate crossbeam-channel 0.5.15 82b8f8f868b36967f9606790d1903570de9ceaf870a7bf9fbbd3016d636a2cb2

# Only absent-repository asks about these.
pypi requests 2.33.1 18817f8c57c6263968bc123d237e3b8b08ac046f5456bd1e307ee8f4250d3517
pypi flask 3.1.3 0ef0e52b8a9cd932855379197dd8f94047b359ca0a78695144304cb45f87c9eb
pypi pydantic 2.13.0b3 dd32af63e25fcdf3d77ce589c5afb3843023992378677f0a51c3c93cb0df73ff
pypi aiohttp 3.13.5 9d98cc980ecc96be6eb4c1994ce35d28d8b1f5e5208a23b421187d1209dbb7d1
npm_package axios 1.7.9 634e3ed585d7c8857f00cb7556f79422614e8defd008f8bb34b6018c1faefa0f
go_module cobra github.com/spf13/cobra v1.10.2 a00aae6fcd631e0fde52c98604452ff70e1b73c3b8a560d68db15aff5e26872d
go_module chi github.com/go-chi/chi/v5 v5.2.5 f78c1525f8b3af815bcf3406c0aba1f272eff96413ff51874677bf8a314fcad8
