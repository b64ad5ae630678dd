import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { dependenciesOf, isOwn, manifestOf } from '../deploy/image/installed-packages.ts';

/** What the process with the recovery phrase loads beside our own code, and why it has to. What several bring is under the first. */
export const reasons: Readonly<Record<string, string>> = {
  zod: 'the check of settings and of every order',
  pino: 'the log',
  pg: 'the record of what was signed',
  nats: 'the questions of payouts and invoices, and those to the ledger and the auditor',
  'decimal.js': 'amounts in settings',
  '@scure/bip39': 'the recovery phrase and its checksum',
  '@scure/bip32': 'keys of Bitcoin and EVM chains from the recovery phrase',
  'micro-key-producer': 'keys of Solana from the recovery phrase (SLIP-10)',
  '@noble/curves': 'signatures of Ed25519 and secp256k1',
  '@scure/btc-signer': 'transactions of Bitcoin',
  viem: 'transactions of EVM chains',
  '@solana/kit': 'transactions of Solana, and what its nodes say of those that can still be mined',
  '@solana-program/system': 'the instructions that move SOL',
  '@solana-program/token': 'the instructions that move tokens on Solana',
  undici: 'the connections to the nodes of Solana',
};

/** The folders of the packages that starting the service loads. */
export function loadedPackages(root: string): string[] {
  const main = pathToFileURL(join(root, 'services/signer/src/service.ts')).href;
  const program = `
    import { registerHooks } from 'node:module';
    const seen = new Set();
    registerHooks({
      load(url, context, next) {
        const of = /^file:.*\\/node_modules\\/(?:@[^/]+\\/)?[^/]+(?=\\/)/.exec(url);
        if (of !== null) seen.add(decodeURIComponent(new URL(of[0]).pathname));
        return next(url, context);
      },
    });
    await import(${JSON.stringify(main)});
    process.stdout.write(JSON.stringify([...seen]), () => process.exit(0));`;
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`the signer cannot be loaded: ${stderr}`);
  return (JSON.parse(stdout) as string[]).toSorted();
}

export type LoadedPackage = { name: string; version: string; license: string; brings: string[] };

const named = (folder: string) => {
  const { name = '', version = '', license = '' } = manifestOf(folder);
  return { name, version, license };
};

/** The packages that our own code asks for, and the others under the first that brings them. */
export function packagesOf(root: string, loaded = loadedPackages(root)): LoadedPackage[] {
  const left = new Set(loaded);
  const place = (folder: string) => Object.keys(reasons).indexOf(named(folder).name);
  const asked = directOf(join(root, 'services/signer'))
    .filter((folder) => left.delete(folder))
    .toSorted((a, b) => place(a) - place(b));
  return asked.map((folder) => ({ ...named(folder), brings: brought(folder, left) }));
}

/** What the workspace's packages depend on below one of them. */
function directOf(service: string): string[] {
  const own = new Set<string>();
  const others = new Set<string>();
  const look = (folder: string) => {
    own.add(folder);
    for (const link of dependenciesOf(folder).map((one) => realpathSync(one))) {
      if (!isOwn(link)) others.add(link);
      else if (!own.has(link)) look(link);
    }
  };
  look(realpathSync(service));
  return [...others];
}

function brought(folder: string, left: Set<string>): string[] {
  const names: string[] = [];
  const seen = new Set<string>();
  const look = (from: string) => {
    for (const link of dependenciesOf(from).map((one) => realpathSync(one))) {
      if (seen.has(link)) continue;
      seen.add(link);
      if (left.delete(link)) names.push(`${named(link).name} ${named(link).version}`);
      look(link);
    }
  };
  look(folder);
  return names.toSorted();
}

/** docs/security/signer-packages.md */
export function signerPackagesText(root: string): string {
  const packages = packagesOf(root);
  const count = packages.reduce((sum, { brings }) => sum + 1 + brings.length, 0);
  const rows = packages.map(
    ({ name, version, license, brings }) =>
      `| ${name} ${version} | ${license} | ${reasons[name] ?? ''} | ${brings.join(', ')} |`,
  );
  return `# What the signer loads

The process with the recovery phrase loads these ${count} packages beside our own code: no HTTP server, no framework, nothing that
reads templates or other languages. \`npm run sbom\` lists all packages of all services, also those that are installed and not loaded.
Written by \`tools/generate-docs.ts\` from what the service loads when it starts.

| package | licence | needed for | brings with it |
|---|---|---|---|
${rows.join('\n')}
`;
}
