import { sleep } from '@quittance/shared/clock';
import { reason } from '@quittance/shared/logger';

/** What the doctor looks at, in the order in which it tells. */
export const checkNames = [
  'settings',
  'version',
  'database',
  'migrations',
  'schema',
  'clock',
  'node',
  'bus',
  'certificate',
  'disk',
  'backup',
  'archive',
] as const;
type CheckName = (typeof checkNames)[number];

/** `unknown`: it could not be looked at from here, and may be right. */
export type State = 'ok' | 'unknown' | 'warning' | 'problem';

/** One line: what was looked at, what was found, and what to do about it. */
export type Finding = {
  check: CheckName;
  subject: string;
  state: State;
  found: string;
  remedy?: string;
};

export const ok = (check: CheckName, subject: string, found: string): Finding => ({
  check,
  subject,
  state: 'ok',
  found,
});

export const bad = (
  state: Exclude<State, 'ok'>,
  check: CheckName,
  subject: string,
  found: string,
  remedy: string,
): Finding => ({ check, subject, state, found, remedy });

/** Nothing that is looked at may keep the others waiting. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const ended = new AbortController();
  const late = sleep(ms, ended.signal).then(() => {
    throw new Error(`no answer within ${ms / 1_000} s`);
  });
  // The one that ends last is heard by nobody.
  late.catch(() => undefined);
  work.catch(() => undefined);
  return await Promise.race([work, late]).finally(() => ended.abort());
}

/** Why it failed, in a line. */
export const why = (error: unknown): string => reason(error).split('\n', 1)[0] ?? '';
