import { writeSync } from 'node:fs';

type Plan = { point: string; nth: number; passed: number };

const STDOUT = 1;

let plan: Plan | undefined;

/** Tests only: `name:nth` kills this process the nth time it passes that failpoint. */
export function armFailpoint(text: string | undefined): void {
  if (text === undefined) return;
  const [point = '', nth = '1'] = text.split(':');
  // eslint-disable-next-line no-restricted-syntax -- how often a point was passed
  plan = { point, nth: Math.max(1, Number.parseInt(nth, 10)), passed: 0 };
}

/**
 * A named place between two effects. Does nothing in production; a test that armed it learns what a
 * SIGKILL exactly here leaves behind.
 */
export function failpoint(point: string): void {
  if (plan === undefined || plan.point !== point) return;
  plan.passed += 1;
  if (plan.passed < plan.nth) return;
  const line = {
    level: 'fatal',
    time: new Date().toISOString(),
    failpoint: point,
    msg: 'killed by CRASH_AT',
  };
  try {
    writeSync(STDOUT, `${JSON.stringify(line)}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
