import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inviteAsOperator } from '@quittance/gateway/operations/operators-people';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import type { Stack } from '@quittance/stack/stack';
import { z } from 'zod';

const schema = z.object({ email: z.string(), password: z.string() });
export type DemoPerson = z.infer<typeof schema>;

/** The owner of the first account and an operator, who signs in to the dashboard. The password is random, and is kept beside the data. */
export async function demoPerson(stack: Stack, account: string, dir: string): Promise<DemoPerson> {
  const path = join(dir, 'person.json');
  const known = existsSync(path) ? schema.parse(JSON.parse(readFileSync(path, 'utf8'))) : undefined;
  const person = known ?? { email: 'demo@example.com', password: randomBytes(12).toString('base64url') };
  // First, so that a start that is broken off leaves no person whose password nobody knows.
  if (known === undefined) writeFileSync(path, JSON.stringify(person, null, 2), { mode: 0o600 });
  const url = stack.settingsOf('gateway')['DATABASE_URL'] ?? '';
  const db = openDb({ url, schema: 'gateway', pool: 1, logger: createLogger('sandbox', 'warn') });
  try {
    const order = { account, email: person.email, role: 'owner', actor: 'sandbox' } as const;
    const invited = await inviteAsOperator({ db, clock: systemClock }, order);
    if (invited.ok) await accept(stack, invited.value.token, person);
    else if (invited.refusal !== 'member_already')
      throw new Error(`${person.email} was not invited: ${invited.refusal}`);
  } finally {
    await db.close();
  }
  await makeOperator(stack.adminUrl, person.email, account);
  return person;
}

async function accept({ url }: Stack, token: string, { password }: DemoPerson): Promise<void> {
  const answer = await fetch(`${url}/api/invitations/accept`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token, name: 'Demo', password }),
  });
  if (answer.status !== 201) throw new Error(`the invitation was not accepted: ${await answer.text()}`);
}

async function makeOperator(url: string, email: string, account: string): Promise<void> {
  const db = openDb({ url, schema: 'operator', pool: 1, logger: createLogger('sandbox', 'warn') });
  try {
    await db.rows('select operator.set_operator($1, $2, true, $3)', [email, account, 'sandbox']);
  } finally {
    await db.close();
  }
}
