package install

import (
	"coderag-ls/engine/embed/onnx/export"
	"coderag-ls/engine/embed/onnx/modeldir"
)

// DefaultURL is where the model's authors publish its files.
const DefaultURL = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/"

// Source is a published model: where its files are and what they must be.
type Source struct {
	URL     string // folder of the files, with a final slash
	Weights modeldir.File
	Vocab   modeldir.File
	Config  export.Config
	// MaxTokens is the longest input the model was trained for.
	MaxTokens int
	License   string
}

// MiniLM is all-MiniLM-L6-v2 as its authors published it. The window of 256 is
// that of its sentence_bert_config.json; the 128 in its tokenizer.json are ignored.
func MiniLM() Source {
	return Source{
		URL:       DefaultURL,
		Weights:   modeldir.File{Name: "model.safetensors", Size: 90868376, SHA256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
		Vocab:     modeldir.File{Name: "vocab.txt", Size: 231508, SHA256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
		Config:    export.MiniLM(),
		MaxTokens: 256,
		License:   "Apache-2.0",
	}
}

// Pinned returns what is known of an archive by its SHA-256: packages of
// onnxruntime, which is under the MIT licence.
func Pinned(sha256 string) (name string, ok bool) {
	name, ok = map[string]string{
		"5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f": "onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_x86_64.whl",
		"da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3": "onnxruntime-1.31.1-cp311-cp311-manylinux_2_28_aarch64.whl",
		"60b6b69bfe580eab576cacc5d132a0e9cf2a37fcfd18d46dd191042b1d1ed0d7": "onnxruntime-1.31.1-cp311-cp311-macosx_14_0_arm64.whl",
		"c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05": "onnxruntime-1.31.1-cp311-cp311-win_amd64.whl",
		"93800007a7023b3ab26ad72e6463d0d57d84ead49a2f6341954d91438e046bc0": "onnxruntime-1.31.1-cp311-cp311-win_arm64.whl",
		"6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75": "onnxruntime-node-1.30.0.tgz",
	}[sha256]
	return name, ok
}
