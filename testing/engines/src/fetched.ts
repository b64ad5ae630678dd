import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { EngineMissing } from './installed.ts';

/**
 * What a script of tools/setup prints of a program that it finds, or fetches once where this machine has none.
 *
 * @param script such as `fetch-swift`
 * @throws EngineMissing where it cannot be had, with the script's reason
 */
export async function fetched(script: string): Promise<string> {
  const file = fileURLToPath(new URL(`../../../tools/setup/${script}.mjs`, import.meta.url));
  try {
    return (await promisify(execFile)(process.execPath, [file])).stdout.trim();
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new EngineMissing(stderr?.trim().split('\n').at(-1) ?? String(error));
  }
}
