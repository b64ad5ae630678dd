import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { sbomDocument } from './sbom-document.ts';

/**
 * npm run sbom [-- FILE]
 *
 * Writes the bill of materials of what runs in production to FILE (`dist/sbom.cdx.json`), from the installed packages and the
 * lock file. It needs no network.
 */
const root = resolve(import.meta.dirname, '..');
const file = resolve(process.argv[2] ?? resolve(root, 'dist/sbom.cdx.json'));
const text = sbomDocument(root);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, text);
const { components } = JSON.parse(text) as { components: unknown[] };
process.stdout.write(`${file}: ${components.length} packages\n`);
