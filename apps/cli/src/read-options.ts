import type { ChainHead } from '@quittance/gateway/operations/audit-log';
import { allRoles, readAllowedIp, readScope } from '@quittance/gateway/operations/read-limits';
import { InvalidArgumentError } from 'commander';

/* What options of tokens, people and the audit log are read with. */

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const HOURS_MAX = 36_500 * 24;

/** The milliseconds of `90d` or `12h`. */
export function duration(text: string): number {
  const [, count = '', unit] = /^([1-9]\d{0,5})([hd])$/.exec(text) ?? [];
  // eslint-disable-next-line no-restricted-syntax -- hours or days
  const ms = Number(count) * (unit === 'd' ? DAY_MS : HOUR_MS);
  if (count === '' || ms > HOURS_MAX * HOUR_MS)
    throw new InvalidArgumentError('It must be hours or days, such as 12h or 90d.');
  return ms;
}

export type Role = (typeof allRoles)[number];
export const roleNames: readonly Role[] = allRoles;

export type Scope = NonNullable<ReturnType<typeof readScope>>;

/** One more value of an option that may be given several times, or with commas. */
const collected =
  <T>(read: (text: string) => T | undefined, problem: (text: string) => string) =>
  (text: string, before: T[] = []): T[] => [
    ...before,
    ...text.split(',').map((one) => {
      const value = read(one.trim());
      if (value === undefined) throw new InvalidArgumentError(problem(one.trim()));
      return value;
    }),
  ];

export const scopeOption = collected(readScope, (text) => `There is no scope ${JSON.stringify(text)}.`);
export const ipOption = collected(
  readAllowedIp,
  (text) =>
    `${JSON.stringify(text)} is neither an address nor a network by its first address, such as 203.0.113.0/24.`,
);

/** `<position>:<hash>`, as `audit verify` prints it. */
export function chainHead(text: string): ChainHead {
  const [, position = '', hash = ''] = /^(\d{1,18}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === '')
    throw new InvalidArgumentError(
      'It must be a head as `audit verify` prints it: a number, ":" and 64 digits.',
    );
  return { position: BigInt(position), hash };
}
