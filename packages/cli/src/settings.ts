import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WatchedChain } from '@quittance/books/chain-invariants';
import { chainSettings, withChains } from '@quittance/chains/settings';
import { ConfigError, loadConfig } from '@quittance/shared/config';
import { type Service, services } from '@quittance/shared/events';
import { reason } from '@quittance/shared/logger';
import { z } from 'zod';
import { CommandError, type Surroundings } from './surroundings.ts';

const OPERATOR_FILE = 'operator.json';
const SANDBOX = '.sandbox';
const checkout = fileURLToPath(new URL('../../../', import.meta.url));

type Where = Pick<Surroundings, 'env' | 'cwd'>;

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
});
type Operator = z.infer<typeof operatorSchema>;

/** The database in which accounts and tokens are. */
export function gatewayDatabase(where: Where): string {
  const { GATEWAY_DATABASE_URL, DATABASE_URL_ADMIN } = where.env;
  const given = GATEWAY_DATABASE_URL || DATABASE_URL_ADMIN;
  if (given) return proper(given, GATEWAY_DATABASE_URL ? 'GATEWAY_DATABASE_URL' : 'DATABASE_URL_ADMIN');
  const operator = findOperator(where);
  if (operator !== undefined) return operator.gatewayDatabaseUrl;
  throw new CommandError(
    'Which database? Set GATEWAY_DATABASE_URL (or DATABASE_URL_ADMIN) to a postgres:// URL, or start the ' +
      `sandbox with \`npm start\`: no ${OPERATOR_FILE} was found ${placesOf(where)}.`,
  );
}

/** The database as its administrator: may read everything, make roles and schemas. */
export function adminDatabase(where: Where): string {
  const given = where.env['DATABASE_URL_ADMIN'];
  if (given) return proper(given, 'DATABASE_URL_ADMIN');
  const operator = findOperator(where);
  if (operator !== undefined) return operator.adminDatabaseUrl;
  throw new CommandError(
    "Which database? Set DATABASE_URL_ADMIN to a superuser's postgres:// URL, or start the sandbox with " +
      `\`npm start\`: no ${OPERATOR_FILE} was found ${placesOf(where)}.`,
  );
}

const passwordVariable = (service: Service): string => `${service.toUpperCase()}_DATABASE_PASSWORD`;

/** What each service's role logs in with; all that are missing are named at once. */
export function databasePasswords(where: Where): (service: Service) => string {
  const fromSandbox = where.env['DATABASE_URL_ADMIN'] ? undefined : findOperator(where)?.passwords;
  const passwords = new Map<Service, string>();
  for (const service of services) {
    const password = where.env[passwordVariable(service)] || fromSandbox?.[service];
    if (password) passwords.set(service, password);
  }
  const missing = services.filter((service) => !passwords.has(service));
  if (missing.length > 0) {
    throw new CommandError(
      'Each service logs in with a password of its own, which this command gives its role. Set the same here ' +
        `as in the service's DATABASE_URL: ${missing.map(passwordVariable).join(', ')}. ` +
        '(The sandbox brings its database up to date by itself, at each `npm start`.)',
    );
  }
  return (service) => passwords.get(service) ?? '';
}

const chainsSchema = withChains(z.object(chainSettings));

/** The chains whose nodes the books are compared with: those that are configured, else the sandbox's. */
export function watchedChains(where: Where): WatchedChain[] {
  const own = Object.entries(where.env).filter(([name]) => Object.hasOwn(chainSettings, name));
  const operator = own.length > 0 || where.env['DATABASE_URL_ADMIN'] ? undefined : findOperator(where);
  try {
    const config = loadConfig('verify-books', chainsSchema, operator?.chains ?? Object.fromEntries(own));
    return config.chains.map((settings) => {
      const began = operator?.chainsBegan?.[settings.chain];
      return { settings, ...(began === undefined ? {} : { since: new Date(began) }) };
    });
  } catch (error) {
    if (error instanceof ConfigError) throw new CommandError(error.message);
    throw error;
  }
}

function proper(url: string, variable: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url;
  // Without its value: it holds a password.
  throw new CommandError(`${variable} is not a postgres:// URL.`);
}

const placesOf = ({ env: { SANDBOX_DIR } }: Where): string =>
  SANDBOX_DIR === undefined
    ? `in a ${SANDBOX} here, above, or in the checkout`
    : `in ${SANDBOX_DIR} (SANDBOX_DIR)`;

/**
 * The sandbox's own file: in SANDBOX_DIR when that is set, as the sandbox has it; else looked for from here upwards,
 * and then beside this checkout's packages.
 */
function findOperator({ env: { SANDBOX_DIR }, cwd }: Where): Operator | undefined {
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
