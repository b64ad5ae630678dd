import { verifyBooks } from '@quittance/books/verify-books';
import { migrateAll } from './migrate-all.ts';
import type { Outcome } from './outcome.ts';
import { adminDatabase, databasePasswords } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import { table } from './table.ts';

export async function migrate(around: Surroundings): Promise<Outcome> {
  const done = await migrateAll({ adminUrl: adminDatabase(around), passwordOf: databasePasswords(around) });
  const rows = done.map(({ service, applied }) => [
    service,
    applied.length === 0 ? 'was up to date' : applied.join(', '),
  ]);
  return {
    json: Object.fromEntries(done.map(({ service, applied }) => [service, applied])),
    text: table(['SERVICE', 'APPLIED'], rows),
  };
}

export async function checkBooks(around: Surroundings, patienceSeconds: number): Promise<Outcome> {
  const { breaches, checked } = await verifyBooks({ databaseUrl: adminDatabase(around), patienceSeconds });
  const { invariants, ...counts } = checked;
  const amounts = Object.entries(counts).map(([what, count]) => `${count} ${what}`);
  const summary = `${invariants.join(', ')} checked over ${amounts.join(', ')}`;
  return {
    json: { breaches, checked },
    text:
      breaches.length === 0
        ? `The books are right. ${summary}.\n`
        : `${breaches.map((b) => `${b.invariant} ${b.what}\n     (${b.meaning})\n`).join('')}\n` +
          `The books are WRONG: ${breaches.length} breaches. ${summary}.\n`,
    bad: breaches.length > 0,
  };
}
