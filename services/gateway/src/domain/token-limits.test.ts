import { describe, expect, test } from '@jest/globals';
import { isAllowed, networkText, readNetwork } from './client-address.ts';
import { holds, type Scope } from './scopes.ts';
import { excessOf, limitsWithin, type TokenLimits, unlimited } from './token-limits.ts';

const until = (seconds: number) => new Date(seconds * 1_000);
const limits = (given: Partial<TokenLimits>): TokenLimits => ({ ...unlimited, ...given });

describe('a new token', () => {
  test('has from the one that asks what the request does not name', () => {
    const own = limits({ scopes: ['invoices:read'], allowedIps: ['10.0.0.0/8'], expiresAt: until(9) });
    expect(limitsWithin(own, unlimited)).toEqual({ ok: true, value: own });
    expect(limitsWithin(unlimited, unlimited)).toEqual({ ok: true, value: unlimited });
  });

  test.each<[string, Partial<TokenLimits>, Partial<TokenLimits>]>([
    ['a scope of its own', { scopes: ['invoices:read', 'tokens:write'] }, { scopes: ['invoices:read'] }],
    ['to read what the other may write', { scopes: ['payouts:write'] }, { scopes: ['payouts:read'] }],
    ['any scope of a token that has all', {}, { scopes: ['payouts:write'] }],
    ['the same network', { allowedIps: ['10.0.0.0/8'] }, { allowedIps: ['10.0.0.0/8'] }],
    [
      'a network inside',
      { allowedIps: ['10.0.0.0/8', '2001:db8::/32'] },
      { allowedIps: ['2001:db8:7::/48'] },
    ],
    ['an earlier end', { expiresAt: until(9) }, { expiresAt: until(8) }],
    ['the same end', { expiresAt: until(9) }, { expiresAt: until(9) }],
  ])('may have %s', (_what, own, wanted) => {
    expect(limitsWithin(limits(own), limits(wanted)).ok).toBe(true);
  });

  test.each<[string, Partial<TokenLimits>, Partial<TokenLimits>, object]>([
    [
      'a scope that the other has not',
      { scopes: ['invoices:write'] },
      { scopes: ['invoices:read', 'payouts:write'] },
      { kind: 'scope', scope: 'payouts:write' },
    ],
    [
      'to write what the other may only read',
      { scopes: ['payouts:read'] },
      { scopes: ['payouts:write'] },
      { kind: 'scope', scope: 'payouts:write' },
    ],
    [
      'a wider network',
      { allowedIps: ['10.0.0.0/8'] },
      { allowedIps: ['10.1.0.0/16', '10.0.0.0/7'] },
      { kind: 'address', network: '10.0.0.0/7' },
    ],
    [
      'another family',
      { allowedIps: ['0.0.0.0/0'] },
      { allowedIps: ['::/0'] },
      { kind: 'address', network: '::/0' },
    ],
    [
      'two scopes that the other has not, of which the first is named',
      { scopes: ['invoices:write'] },
      { scopes: ['refunds:read', 'payouts:write'] },
      { kind: 'scope', scope: 'refunds:read' },
    ],
    [
      'two networks outside, of which the first is named',
      { allowedIps: ['10.0.0.0/8'] },
      { allowedIps: ['192.168.0.0/16', '203.0.113.0/24'] },
      { kind: 'address', network: '192.168.0.0/16' },
    ],
    [
      'a network of the same size beside',
      { allowedIps: ['10.0.0.0/8'] },
      { allowedIps: ['11.0.0.0/8'] },
      { kind: 'address', network: '11.0.0.0/8' },
    ],
    [
      'what is no network',
      { allowedIps: ['10.0.0.0/8'] },
      { allowedIps: ['10.0.0.1/8'] },
      { kind: 'address', network: '10.0.0.1/8' },
    ],
    ['a later end', { expiresAt: until(9) }, { expiresAt: until(10) }, { kind: 'expiry', until: until(9) }],
  ])('may not have %s', (_what, own, wanted, refusal) => {
    expect(limitsWithin(limits(own), limits(wanted))).toEqual({ ok: false, refusal });
  });
});

test('to write includes to read, and nothing else', () => {
  const all: Scope[] = ['invoices:write'];
  expect([holds(all, 'invoices:read'), holds(all, 'invoices:write')]).toEqual([true, true]);
  expect([holds(['invoices:read'], 'invoices:write'), holds(all, 'refunds:read')]).toEqual([false, false]);
  expect([holds(null, 'payouts:write'), holds([], 'payouts:read')]).toEqual([true, false]);
});

describe('a token that has all scopes, all addresses or no end', () => {
  test.each<[Partial<TokenLimits>, object]>([
    [{ scopes: ['tokens:write'] }, { kind: 'scope', scope: 'all' }],
    [{ allowedIps: ['10.0.0.0/8'] }, { kind: 'address', network: 'every address' }],
    [{ expiresAt: until(9) }, { kind: 'expiry', until: until(9) }],
  ])('has more than one with %j', (own, excess) => {
    expect(excessOf(limits(own), unlimited)).toEqual(excess);
    expect(excessOf(unlimited, limits(own))).toBeUndefined();
  });
});

describe('the list of addresses', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.0/24'],
    ['2001:DB8::/48', '2001:db8::/48'],
    ['::1', '::1/128'],
    ['::ffff:203.0.113.7', '203.0.113.7/32'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ])('has %s as %s', (text, stored) => {
    const network = readNetwork(text);
    expect(network && networkText(network)).toBe(stored);
  });

  test.each([
    'loopback',
    'shop.example',
    '',
    '203.0.113.7/24',
    '203.0.113.0/33',
    '203.0.113.7:443',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '203.0.113',
    '1',
    '0x7f000001',
    '2001:db8::1/48',
    '10.0.0.0/255.0.0.0',
  ])('has no %j', (text) => {
    expect(readNetwork(text)).toBeUndefined();
  });

  test.each<[string | undefined, string[] | null, boolean]>([
    ['203.0.113.7', null, true],
    [undefined, null, true],
    [undefined, ['0.0.0.0/0'], false],
    ['203.0.113.7', ['203.0.113.0/24'], true],
    ['203.0.114.7', ['203.0.113.0/24'], false],
    ['::ffff:203.0.113.7', ['203.0.113.7/32'], true],
    ['203.0.113.7', ['2001:db8::/32', '203.0.113.7/32'], true],
    ['2001:db8:1::7', ['2001:db8::/32'], true],
    ['2001:db9::7', ['2001:db8::/32'], false],
    ['203.0.113.7', ['::/0'], false],
    ['203.0.113.7', ['nobody', '203.0.113.7/32'], true],
    ['203.0.113.7', ['nobody'], false],
  ])('%s with %j: %s', (address, allowed, expected) => {
    expect(isAllowed(address, allowed)).toBe(expected);
  });
});
