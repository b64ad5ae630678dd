import { type Service, services } from '@quittance/shared/events';
import { findOperator, type Where, withoutOperator } from './operator-file.ts';
import { CommandError } from './surroundings.ts';

/** The database in which accounts and tokens are. */
export function gatewayDatabase(where: Where): string {
  const { GATEWAY_DATABASE_URL, DATABASE_URL_ADMIN } = where.env;
  const given = GATEWAY_DATABASE_URL || DATABASE_URL_ADMIN;
  if (given) return proper(given, GATEWAY_DATABASE_URL ? 'GATEWAY_DATABASE_URL' : 'DATABASE_URL_ADMIN');
  const operator = findOperator(where);
  if (operator !== undefined) return operator.gatewayDatabaseUrl;
  throw new CommandError(
    'Which database? Set GATEWAY_DATABASE_URL (or DATABASE_URL_ADMIN) to a postgres:// URL, or start the ' +
      `sandbox with \`npm start\`: ${withoutOperator(where)}.`,
  );
}

/** The database as the operator: may read what the commands show and call what they change things with. */
export function operatorDatabase(where: Where): string {
  const { OPERATOR_DATABASE_URL } = where.env;
  return OPERATOR_DATABASE_URL
    ? proper(OPERATOR_DATABASE_URL, 'OPERATOR_DATABASE_URL')
    : adminDatabase(where);
}

/** What the operator's role logs in with; without it the role is made and nobody can. */
export const operatorPassword = ({ env }: Where): string | undefined =>
  env['OPERATOR_DATABASE_PASSWORD'] || undefined;

/** The database as its administrator: may read everything, make roles and schemas. */
export function adminDatabase(where: Where): string {
  const given = where.env['DATABASE_URL_ADMIN'];
  if (given) return proper(given, 'DATABASE_URL_ADMIN');
  const operator = findOperator(where);
  if (operator !== undefined) return operator.adminDatabaseUrl;
  throw new CommandError(
    "Which database? Set DATABASE_URL_ADMIN to a superuser's postgres:// URL, or start the sandbox with " +
      `\`npm start\`: ${withoutOperator(where)}.`,
  );
}

const passwordVariable = (service: Service): string => `${service.toUpperCase()}_DATABASE_PASSWORD`;

/** What each service's role logs in with; all that are missing are named at once. */
export function databasePasswords(where: Where): (service: Service) => string {
  const fromSandbox = findOperator(where)?.passwords;
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

function proper(url: string, variable: string): string {
  if (URL.canParse(url) && /^postgres(ql)?:$/.test(new URL(url).protocol)) return url;
  // Without its value: it holds a password.
  throw new CommandError(`${variable} is not a postgres:// URL.`);
}
