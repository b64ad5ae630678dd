import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@quittance/shared/clock';
import { openDb } from '@quittance/shared/db';
import { createLogger } from '@quittance/shared/logger';
import { openAccount } from '@quittance/stack/open-account';
import type { Stack } from '@quittance/stack/stack';
import { z } from 'zod';

const names = ['demo', 'second'] as const;

const schema = z.array(z.object({ name: z.string(), id: z.string(), token: z.string() }));
export type DemoAccount = z.infer<typeof schema>[number];

/**
 * Two merchants to try things with; the second shows that nobody sees another's invoices. A token is shown
 * once and stored hashed, so the sandbox keeps its own copy beside its data.
 */
export async function demoAccounts(stack: Stack, dir: string): Promise<DemoAccount[]> {
  const path = join(dir, 'accounts.json');
  if (existsSync(path)) return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const url = stack.settingsOf('gateway')['DATABASE_URL'] ?? '';
  const db = openDb({ url, schema: 'gateway', pool: 1, logger: createLogger('sandbox', 'warn') });
  try {
    const accounts: DemoAccount[] = [];
    for (const name of names) {
      accounts.push({ name, ...(await openAccount({ db, clock: systemClock }, name, 'sandbox')) });
    }
    writeFileSync(path, JSON.stringify(accounts, null, 2), { mode: 0o600 });
    return accounts;
  } finally {
    await db.close();
  }
}
