import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

/**
 * node tools/vendor-reference.ts
 *
 * Writes the renderer of the API reference into services/gateway/assets, from the package of npm. It is not a dependency:
 * the package needs dozens of others, all of which the one file in it already contains, and its tarball has 10 MB.
 * services/gateway/src/http/docs/reference-page.ts names what the file is asked to do.
 */
const PACKAGE = '@scalar/api-reference@1.72.1';
const INTEGRITY =
  'sha512-XpEJ0rfc/cXbCrR+iC4kK0o/WwX2dTtGQbT049OlPKAHD6IMIFdTeGz2r+M27P2EDWKyUITRm/NzlP8z2pw/Ow==';

const assets = join(import.meta.dirname, '../services/gateway/assets');
const scratch = mkdtempSync(join(tmpdir(), 'quittance-vendor-'));
try {
  const tarball = execFileSync('npm', ['pack', '--silent', '--pack-destination', scratch, PACKAGE]);
  const path = join(scratch, String(tarball).trim());
  const integrity = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;
  if (integrity !== INTEGRITY) throw new Error(`${PACKAGE} has ${integrity}, and not ${INTEGRITY}`);
  execFileSync('tar', ['xzf', path, '-C', scratch]);
  const script = readFileSync(join(scratch, 'package/dist/browser/standalone.js'));
  writeFileSync(join(assets, 'scalar.js.br'), brotliCompressSync(script));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
