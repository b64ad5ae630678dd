import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { reason } from '@quittance/shared/logger';
import { z } from 'zod';
import { CommandError, type Surroundings } from './surroundings.ts';

const OPERATOR_FILE = 'operator.json';
const SANDBOX = '.sandbox';

export type Where = Pick<Surroundings, 'env' | 'cwd' | 'sandbox'>;

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

/** Each names a database of an operator's own, to which nothing of a sandbox belongs. */
const OWN_DATABASES = ['OPERATOR_DATABASE_URL', 'DATABASE_URL_ADMIN', 'GATEWAY_DATABASE_URL'] as const;

const ownDatabase = ({ env }: Where): string | undefined => OWN_DATABASES.find((name) => env[name]);

/** Why there is no sandbox to fall back on, for who reads it. */
export function withoutOperator(where: Where): string {
  const own = ownDatabase(where);
  if (own !== undefined) return `while ${own} is set, a sandbox's ${OPERATOR_FILE} is not read`;
  const { env, sandbox } = where;
  if (env['SANDBOX_DIR'] !== undefined) {
    return `no ${OPERATOR_FILE} was found in ${env['SANDBOX_DIR']} (SANDBOX_DIR)`;
  }
  const places = sandbox === undefined ? 'here or above' : 'here, above, or in the checkout';
  return `no ${OPERATOR_FILE} was found in a ${SANDBOX} ${places}`;
}

/**
 * The sandbox's own file: in SANDBOX_DIR when that is set, as the sandbox has it; else looked for from here upwards,
 * and then in the folder that the process was given, which is the checkout's for the command itself.
 * With a database of the operator's own it is not read: another database's books and the sandbox's chains do not agree.
 */
export function findOperator(where: Where): Operator | undefined {
  if (ownDatabase(where) !== undefined) return undefined;
  const { env, cwd, sandbox } = where;
  const { SANDBOX_DIR } = env;
  if (SANDBOX_DIR !== undefined) return readOperator(join(resolve(cwd, SANDBOX_DIR), OPERATOR_FILE));
  const folders = [cwd];
  for (let folder = cwd; dirname(folder) !== folder; folder = dirname(folder)) folders.push(dirname(folder));
  const places = folders.map((folder) => join(folder, SANDBOX));
  for (const place of sandbox === undefined ? places : [...places, sandbox]) {
    const operator = readOperator(join(place, OPERATOR_FILE));
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
