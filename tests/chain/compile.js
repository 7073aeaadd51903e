// Prints the content of protocol.json: the version of solc, and the bytecode of the contracts in protocol.sol by name.
// In: the folder of the package solc, the path of protocol.sol.
const [solc, path] = [require(process.argv[2]), process.argv[3]];
const settings = { optimizer: { enabled: true }, evmVersion: "paris", metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["evm.bytecode.object"] } } };
const sources = { "protocol.sol": { content: require("fs").readFileSync(path, "utf8") } };
const made = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources, settings })));
for (const found of made.errors || []) console.error(found.formattedMessage);
const contracts = Object.entries(made.contracts["protocol.sol"]).map(([name, one]) => [name, one.evm.bytecode.object]);
const version = solc.version().split("+")[0];
console.log(JSON.stringify({ solc: version, contracts: Object.fromEntries(contracts) }, null, 2));
