import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { newEndpointId } from '@quittance/shared/ids';
import { createSeal } from './seal.ts';

const mine = newEndpointId(new Date());
const other = newEndpointId(new Date());
const seal = createSeal('k'.repeat(32), randomBytes);

test('what was sealed is read again, and is in no part readable before', () => {
  const sealed = seal.close('whsec_abc', mine);
  expect(seal.open(sealed, mine)).toBe('whsec_abc');
  expect(createSeal('k'.repeat(32), randomBytes).open(sealed, mine)).toBe('whsec_abc');
  expect(sealed.toString('latin1')).not.toContain('whsec');
  expect(seal.close('whsec_abc', mine).equals(sealed)).toBe(false);
});

test('another key, another endpoint or a changed byte opens nothing', () => {
  const sealed = seal.close('whsec_abc', mine);
  expect(() => createSeal('x'.repeat(32), randomBytes).open(sealed, mine)).toThrow();
  expect(() => seal.open(sealed, other)).toThrow();
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    expect(() => seal.open(changed, mine)).toThrow();
  }
  expect(() => seal.open(sealed.subarray(0, 20), mine)).toThrow();
});
