#!/bin/sh
# Gets the sources that internal/fitpassages learns from, as packages of their
# registries at pinned versions: scripts/fit-corpora.sh [DIR]. DIR is .cache/fit
# by default. None of the projects is one that anything is measured on.
set -eu

cd "$(dirname "$0")/.."
dir=${1:-.cache/fit}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
what=fit-corpora
. scripts/packages.sh

# prune FOLDER PATH...: what was compiled from the sources beside it.
prune() { folder=$1; shift; for path; do rm -rf "${dir:?}/$folder/$path"; done; }

wheel attrs 24.2.0 81921eb96de3191c8258c199618104dd27ac608d9366f5e35d011eae1867ede2
wheel celery 5.4.0 369631eb580cf8c51a82721ec538684994f8277637edde2dfc0dacd73ed97f64
wheel jinja2 3.1.4 bc5dd2abb727a5319567b7a813e6a2e7318c39f4f487cfe6c89c6f9c7d25197d
wheel marshmallow 3.23.1 fece2eb2c941180ea1b7fcbd4a83c51bfdd50093fdd3ad2585ee5e1df2508491
wheel paramiko 3.5.0 1fedf06b085359051cd7d0d270cebe19e755a8a921cc2ddbfa647fb0cd7d68f9
wheel scrapy 2.12.0 c33e2dc7da42e727390bacb32dd9938a54ac210fa71972b5c392754f478669cd
wheel tornado 6.4.2 bca9eb02196e789c9cb5c3c7c0f04fb447dc2adffd95265b2c7223a8a615ccbf
wheel urllib3 2.2.3 ca899ca043dcb1bafa3e262d73aa25c465bfb49e0bd9dd5d59f1d0acba2f8fac
wheel werkzeug 3.1.3 54b78bf3716d19a65be4fceccc0d1d7b89e608834989dfae50ea87564639213e
npm_package commander 12.1.0 56affc6ddafe486f94b428ae2823d059cf60d4dae2f33eaaf1b1ec4306f73173
npm_package immer 10.1.1 946cc79684ad1e080b09d4f2da14247b272aa667f3aaa100f35846148689f08f
npm_package knex 3.1.0 2bc4381e4c1d47673b30c2ed464e538bfd1976be1238bfb0085ae601e16157eb
npm_package koa 2.15.3 23b9a334640c93f61306e1941dc87b6001b0273230482fb9138243de870727f1
npm_package mongodb 6.11.0 405393381c03906e08807bf8e9a44522ba4d9c821ea415e309c6f53843337d7d
npm_package mongoose 8.8.3 571d1034e82740e13e8d759bc46c7d4d5f18f3c7610068e591a6086f299eb988
npm_package pino 9.5.0 e76004f2329b7aba62af90f416c60dd9f7dc0513587e57e90508a2d80938afd9
npm_package rxjs 7.8.1 c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149
npm_package undici 6.21.0 3aa7df5476eeb26e7322dec54cc00f261e155ee9430018777d059d0962b6f665
npm_package winston 3.17.0 6dc0d9098a6e90ff760e00c54df25d090c7e090e424d935113ef878eb1b2cb84
go_module bbolt go.etcd.io/bbolt v1.3.11 d1651f094029c4f637fb8a39fee47dd146b41ae77eec79aac431a557f8656b0a
go_module nats.go github.com/nats-io/nats.go v1.37.0 3cb91adc6c85c2eb2cd55775bc9a857b74ec203cf52c78ff2a60f50a4593a907
go_module echo github.com/labstack/echo/v4 v4.12.0 36c99bcf430feb9698ad4a8d91c8453d6452541d96c870b2fb4ba54d1b7bbc0c
go_module zap go.uber.org/zap v1.27.0 b994b96ff0bb504a3d58288ab88b9f3c6604689ea1afb69d25b509769705a6c2
go_module viper github.com/spf13/viper v1.19.0 5b773a712a646ff2f1bca4c45d50853e881ad8f6c363ca30fab1c4a9b19e59b2
go_module badger github.com/dgraph-io/badger/v4 v4.4.0 dd31b1b5b3936e1a5651180c06804f41db00d8004d99a121212068224c37441e
go_module memberlist github.com/hashicorp/memberlist v0.5.1 1c31e9508e11fe8af5b707b71f6988af9875a0962c27efc86109caa2d52c2a23
go_module client_golang github.com/prometheus/client_golang v1.20.5 b76de10864f49c87a347b9a3e6fe606c1f93ed091de7d0d1d17a5967a60f5ce2
go_module go-git github.com/go-git/go-git/v5 v5.12.0 3e52f36830c011671cb7c4e67dbc07bd5f336ef083e81ff040fd910d01fd720c
go_module go-redis github.com/go-redis/redis/v8 v8.11.5 7b373b229f2ed912bd2fa3c91787e9280ff0d40a36e9e5c2783e8db24d44e22c
crate hyper 1.5.1 97818827ef4f364230e16705d4706e2897df2bb60617d6ca15d598025a3c481f
crate reqwest 0.12.9 a77c62af46e79de0a562e1a9849205ffcb7fc1238876e9bd743357570e04046f
crate rayon-core 1.12.1 1465873a3dfdaa8ae7cb14b4383657caab0b3e8a0aa9ae8e04b044854c8dfce2
crate rayon 1.10.0 b418a60154510ca1a002a752ca9714984e21e4241e804d32555251faf8b78ffa
crate clap_builder 4.5.21 b17a95aa67cc7b5ebd32aa5370189aa0d79069ef1c64ce893bd30fb24bff20ec
crate h2 0.4.7 ccae279728d634d083c00f6099cb58f01cc99c145b84b8be2f6c74618d79922e
crate regex-automata 0.4.9 809e8dc61f6de73b46c85f4c96486310fe304c434cfa43669d7b40f711150908
crate indexmap 2.7.0 62f822373a4fe84d4bb149bf54e584a7f4abec90e072ed49cda0edea5b95471f
crate mio 1.0.3 2886843bf800fba2e3377cff24abf6379b4c4d5c6681eaf9ea5b0d15090450bd
crate rusqlite 0.32.1 7753b721174eb8ff87a9a0e799e2d7bc3749323e773db92e0984debb00019d6e
crate quinn-proto 0.11.9 a2fe5ef3495d7d2e377ff17b1a8ce2ee2ec2a18cde8b6ad6619d65d0701c135d
prune mongodb-6.11.0 lib
prune rxjs-7.8.1 dist docs
for package in immer-10.1.1 koa-2.15.3 winston-3.17.0 mongoose-8.8.3; do prune "$package" dist; done
