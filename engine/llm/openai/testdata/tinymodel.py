"""Writes a language model of random weights in GGUF: tinymodel.py FILE

It writes nonsense, in letters and now and then other bytes, half characters
included, and never ends by itself. What matters is the server around it.
"""

import sys

import gguf
import numpy

WIDTH, HEADS, HIDDEN, WINDOW = 64, 4, 128, 16384

TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


def vocabulary():
    tokens = [("<unk>", 0.0, gguf.TokenType.UNKNOWN), ("<s>", 0.0, gguf.TokenType.CONTROL), ("</s>", 0.0, gguf.TokenType.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", 0.0, gguf.TokenType.BYTE) for byte in range(256)]
    tokens += [("\u2581", -1.0, gguf.TokenType.NORMAL)]
    tokens += [(letter, -2.0 - i, gguf.TokenType.NORMAL) for i, letter in enumerate("etaoinshrdlucmfwypvbgkjqxz.,:;()[]{}\"'0123456789")]
    return tokens


def main(path):
    random = numpy.random.default_rng(7)
    tokens = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _, _ in tokens])
    writer.add_token_scores([score for _, score, _ in tokens])
    writer.add_token_types([kind for _, _, kind in tokens])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(TEMPLATE)

    def tensor(name, *shape):
        writer.add_tensor(name, random.normal(0, 0.05, shape).astype(numpy.float32))

    def ones(name):
        writer.add_tensor(name, numpy.ones(WIDTH, numpy.float32))

    # The first value of each vector is the same, so that its weights in the last
    # layer say what is likely whatever was read: letters; never the end.
    embedding = random.normal(0, 0.4, (len(tokens), WIDTH)).astype(numpy.float32)
    embedding[:, 0] = 6
    last = random.normal(0, 0.4, (len(tokens), WIDTH)).astype(numpy.float32)
    last[:, 0] = [{gguf.TokenType.NORMAL: 1.0, gguf.TokenType.BYTE: 0.2}.get(kind, -9) for _, _, kind in tokens]
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", last)
    ones("output_norm.weight")
    ones("blk.0.attn_norm.weight")
    ones("blk.0.ffn_norm.weight")
    for name in ["attn_q", "attn_k", "attn_v", "attn_output"]:
        tensor(f"blk.0.{name}.weight", WIDTH, WIDTH)
    tensor("blk.0.ffn_gate.weight", HIDDEN, WIDTH)
    tensor("blk.0.ffn_up.weight", HIDDEN, WIDTH)
    tensor("blk.0.ffn_down.weight", WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main(sys.argv[1])
