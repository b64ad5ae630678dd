import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newEndpointId } from '@quittance/shared/ids';
import { createSecretEncryption } from './endpoint-secrets.ts';

const mine = newEndpointId(new Date());
const other = newEndpointId(new Date());
const encryption = createSecretEncryption('k'.repeat(32), randomBytes);

test('an encrypted secret is decrypted again and contains no readable part', () => {
  const encrypted = encryption.encrypt('whsec_abc', mine);
  expect(encryption.decrypt(encrypted, mine)).toBe('whsec_abc');
  expect(createSecretEncryption('k'.repeat(32), randomBytes).decrypt(encrypted, mine)).toBe('whsec_abc');
  expect(encrypted.toString('latin1')).not.toContain('whsec');
  expect(encryption.encrypt('whsec_abc', mine).equals(encrypted)).toBe(false);
});

test('another key, another endpoint or a changed byte decrypts nothing', () => {
  const encrypted = encryption.encrypt('whsec_abc', mine);
  expect(() => createSecretEncryption('x'.repeat(32), randomBytes).decrypt(encrypted, mine)).toThrow();
  expect(() => encryption.decrypt(encrypted, other)).toThrow();
  for (let i = 0; i < encrypted.length; i++) {
    const changed = Buffer.from(encrypted);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    expect(() => encryption.decrypt(changed, mine)).toThrow();
  }
  expect(() => encryption.decrypt(encrypted.subarray(0, 20), mine)).toThrow();
});

test('while the key is changed, what either key has encrypted is decrypted, and renewed with the new one', () => {
  const [former, present] = ['f'.repeat(32), 'p'.repeat(32)];
  const both = createSecretEncryption(present, randomBytes, former);
  const old = createSecretEncryption(former, randomBytes).encrypt('whsec_abc', mine);
  expect(both.decrypt(old, mine)).toBe('whsec_abc');
  const renewed = both.renewed(old, mine) ?? Buffer.of();
  const alone = createSecretEncryption(present, randomBytes);
  expect(alone.decrypt(renewed, mine)).toBe('whsec_abc');
  expect([both.renewed(renewed, mine), alone.renewed(renewed, mine)]).toEqual([undefined, undefined]);
  expect(alone.decrypt(both.encrypt('whsec_def', mine), mine)).toBe('whsec_def');
  const stranger = createSecretEncryption('x'.repeat(32), randomBytes).encrypt('whsec_abc', mine);
  for (const encryption of [both, alone]) {
    expect(() => encryption.renewed(stranger, mine)).toThrow();
    expect(() => encryption.decrypt(stranger, mine)).toThrow();
  }
  expect(() => both.renewed(old, other)).toThrow();
});
