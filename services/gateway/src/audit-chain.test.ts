import { describe, expect, test } from '@jest/globals';
import { type AuditEntry, continueChain, emptyChain, entryHash } from './audit-chain.ts';

const parts: Omit<AuditEntry, 'position' | 'hash'> = {
  at: '2026-01-02T03:04:05.123456Z',
  actor: 'token tok_1',
  source: '203.0.113.7',
  writtenBy: 'quittance_gateway',
  action: 'token.created',
  accountId: 'acc_1',
  tokenId: 'tok_2',
  subject: null,
  detail: 'scopes invoices:read',
};

function chainOf(count: number): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (let position = 1n; position <= count; position++) {
    const entry = { ...parts, position };
    entries.push({ ...entry, hash: entryHash(entries.at(-1)?.hash ?? '', entry) });
  }
  return entries;
}

describe('the chain of the audit log', () => {
  test('is whole, also in pieces', () => {
    const all = chainOf(5);
    const first = continueChain(emptyChain, all.slice(0, 2));
    const head = { position: 2n, hash: all[1]?.hash ?? '' };
    expect(first).toEqual({ head });
    expect(continueChain(head, all.slice(2))).toEqual({
      head: { position: 5n, hash: all[4]?.hash },
    });
  });

  const changes: [keyof typeof parts, string | null][] = [
    ['at', '2026-01-02T03:04:05.123457Z'],
    ['actor', 'token tok_3'],
    ['source', null],
    ['writtenBy', 'quittance_operator'],
    ['action', 'token.revoked'],
    ['accountId', 'acc_2'],
    ['tokenId', null],
    ['subject', 'ETH'],
    ['detail', ''],
  ];
  test.each(changes)('is broken where the %s of an entry is another', (name, value) => {
    const all = chainOf(3);
    all[1] = { ...all[1], [name]: value } as AuditEntry;
    expect(continueChain(emptyChain, all)).toEqual({ broken: 2n });
  });

  test('is broken where an entry is missing, doubled or in another place', () => {
    const [a, b, c] = chainOf(3) as [AuditEntry, AuditEntry, AuditEntry];
    expect(continueChain(emptyChain, [a, c])).toEqual({ broken: 2n });
    expect(continueChain(emptyChain, [b, c])).toEqual({ broken: 1n });
    expect(continueChain(emptyChain, [a, a, b])).toEqual({ broken: 2n });
    expect(continueChain(emptyChain, [a, { ...c, position: 2n }, { ...b, position: 3n }])).toEqual({
      broken: 2n,
    });
  });

  test('is broken behind an entry whose own hash was computed again', () => {
    const [a, b, c] = chainOf(3) as [AuditEntry, AuditEntry, AuditEntry];
    const forged = { ...b, actor: 'nobody' };
    const right = { ...forged, hash: entryHash(a.hash, forged) };
    expect(continueChain(emptyChain, [a, right, c])).toEqual({ broken: 3n });
  });

  test('tells a value in one field from the same value in the next', () => {
    const entry = { ...parts, position: 1n, subject: 'x', detail: null };
    expect(entryHash('', entry)).not.toBe(entryHash('', { ...entry, subject: null, detail: 'x' }));
    expect(entryHash('', { ...entry, subject: 'x", "y' })).not.toBe(
      entryHash('', { ...entry, subject: 'x', detail: 'y' }),
    );
  });
});
