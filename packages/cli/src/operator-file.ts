import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reason } from '@quittance/shared/logger';
import { z } from 'zod';
import { CommandError, type Surroundings } from './surroundings.ts';

export const OPERATOR_FILE = 'operator.json';
const SANDBOX = '.sandbox';
const checkout = fileURLToPath(new URL('../../../', import.meta.url));

export type Where = Pick<Surroundings, 'env' | 'cwd'>;

/** What `npm start` leaves for this command: how to reach the running sandbox's database. */
const operatorSchema = z.object({
  gatewayDatabaseUrl: z.string(),
  adminDatabaseUrl: z.string(),
  /** By service; the sandbox migrates by itself, so it need not say. */
  passwords: z.record(z.string(), z.string()).optional(),
  /** The settings of the chains, as its services have them. */
  chains: z.record(z.string(), z.string()).optional(),
  /** By chain: what was before is not on it, because its node keeps nothing over a restart. */
  chainsBegan: z.record(z.string(), z.iso.datetime()).optional(),
  /** Where its secrets are: those that no log may hold. */
  secretsFile: z.string().optional(),
});
export type Operator = z.infer<typeof operatorSchema>;

export const placesOf = ({ env: { SANDBOX_DIR } }: Where): string =>
  SANDBOX_DIR === undefined
    ? `in a ${SANDBOX} here, above, or in the checkout`
    : `in ${SANDBOX_DIR} (SANDBOX_DIR)`;

/**
 * The sandbox's own file: in SANDBOX_DIR when that is set, as the sandbox has it; else looked for from here upwards,
 * and then beside this checkout's packages.
 */
export function findOperator({ env: { SANDBOX_DIR }, cwd }: Where): Operator | undefined {
  if (SANDBOX_DIR !== undefined) return readOperator(join(resolve(cwd, SANDBOX_DIR), OPERATOR_FILE));
  const folders = [cwd];
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) folders.push(dirname(folder));
  for (const folder of [...folders, checkout]) {
    const operator = readOperator(join(folder, SANDBOX, OPERATOR_FILE));
    if (operator !== undefined) return operator;
  }
  return undefined;
}

function readOperator(file: string): Operator | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (Error.isError(error) && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) {
      return undefined;
    }
    throw new CommandError(`${file} cannot be read: ${reason(error)}`);
  }
  try {
    return operatorSchema.parse(JSON.parse(text));
  } catch {
    throw new CommandError(
      `${file} is not what the sandbox writes; stop it and start it again with \`npm start\`.`,
    );
  }
}
