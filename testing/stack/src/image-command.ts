import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from '@quittance/engines/launch-process';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
/** Where the Dockerfile puts what it gathers of a checkout, folder by folder as they are there. */
const IN_IMAGE = '/app';

/**
 * A command of this machine as an image runs it that was built of this checkout: its Node, and its files of the checkout.
 * @throws Error when the program is no file of the checkout, and so of no image
 */
export function imageCommand(
  { file, args }: Command,
  checkout = CHECKOUT,
): { entrypoint: string[]; args: string[] } {
  const placed = (path: string) => {
    const below = relative(checkout, path);
    return path.startsWith('/') && !below.startsWith('..') ? join(IN_IMAGE, below) : undefined;
  };
  const program = file === process.execPath ? 'node' : placed(file);
  if (program === undefined) throw new Error(`${file} is not in ${checkout}, so no image has it`);
  return { entrypoint: [program], args: args.map((arg) => placed(arg) ?? arg) };
}
