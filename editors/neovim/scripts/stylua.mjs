// Formats Lua with stylua's build for Node.js, in this project's style (the same
// as .stylua.toml): node stylua.mjs STYLUA-PACKAGE [--check] FILE...
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

const [where, ...rest] = process.argv.slice(2);
const { formatCode, Config, IndentType, OutputVerification, QuoteStyle, LuaVersion } = createRequire(import.meta.url)(resolve(where, "stylua_lib_node.cjs"));
const check = rest[0] === "--check";
let unformatted = 0;
for (const file of check ? rest.slice(1) : rest) {
  const config = Config.new();
  config.column_width = 160;
  config.indent_type = IndentType.Spaces;
  config.indent_width = 2;
  config.quote_style = QuoteStyle.AutoPreferSingle;
  config.syntax = LuaVersion.LuaJIT;
  const text = readFileSync(file, "utf8");
  const formatted = formatCode(text, config, undefined, OutputVerification.Full);
  if (formatted === text) continue;
  unformatted++;
  if (check) console.error(`not formatted: ${file}`);
  else writeFileSync(file, formatted);
}
process.exit(check && unformatted > 0 ? 1 : 0);
