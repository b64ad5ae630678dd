import { expect, test } from '@jest/globals';
import { formPart } from '@quittance/shared/form';
import { shopFields } from './shop-fields.ts';

const read = formPart(shopFields);
const hosts = Array.from({ length: 21 }, (_, i) => `shop${i}.example`);
const origins = hosts.map((host) => `https://${host}`);

test.each([
  ['shop_name', 60, 'x'.repeat(61), 'The shop name must not be greater than 60 characters.'],
  ['redirect_hosts', 20, hosts, 'The redirect hosts must not have more than 20 items.'],
  ['frame_ancestors', 10, origins.slice(0, 11), 'The frame ancestors must not have more than 10 items.'],
])('the %s of a shop may have a length of %i and no more', (field, length, larger, message) => {
  const largest = larger.slice(0, length);
  expect(read({ [field]: largest })).toMatchObject({ ok: true, value: { [field]: largest } });
  expect(read({ [field]: larger })).toMatchObject({ ok: false, refusal: { [field]: [{ message }] } });
});
