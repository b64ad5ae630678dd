import { networkText, readNetwork } from '../domain/client-address.ts';
import { type Role, roles } from '../domain/roles.ts';
import { type Scope, scopeNames } from '../domain/scopes.ts';

/** The scopes that there are, for whoever reads texts of people. */
export const allScopes: readonly Scope[] = scopeNames;

/** The roles that people may have in an account. */
export const allRoles: readonly Role[] = roles;

export const readScope = (text: string): Scope | undefined => scopeNames.find((one) => one === text);

/** An address or a network as it is stored; undefined of a text that is none. */
export function readAllowedIp(text: string): string | undefined {
  const network = readNetwork(text);
  return network === undefined ? undefined : networkText(network);
}
