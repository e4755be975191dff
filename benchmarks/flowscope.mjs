// FlowScope's WebAssembly package, asked for all files at once: node flowscope.mjs PACKAGE FOLDER DIALECT
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, sources, dialect] = process.argv.slice(2);
const wasm = await import(pathToFileURL(join(folder, "wasm", "flowscope_wasm.js")).href);
await wasm.default({ module_or_path: readFileSync(join(folder, "wasm", "flowscope_wasm_bg.wasm")) });

const names = readdirSync(sources, { recursive: true }).filter((name) => name.endsWith(".sql")).sort();
const files = names.map((name) => ({ name, content: readFileSync(join(sources, name), "utf8") }));
const request = { sql: "", files, dialect: { tsql: "mssql", spark: "databricks", "": "generic" }[dialect] ?? dialect };
const begun = process.cpuUsage();
const result = JSON.parse(wasm.analyze_sql_json(JSON.stringify(request)));
const spent = process.cpuUsage(begun);
const failed = (result.issues ?? []).filter((issue) => issue.code === "PARSE_ERROR").length;
console.log(JSON.stringify({ seconds: (spent.user + spent.system) / 1e6, failed }));
