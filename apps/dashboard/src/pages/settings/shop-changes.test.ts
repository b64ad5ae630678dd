import { expect, test } from '@jest/globals';
import { changesOf } from './shop-changes.ts';

test('only what was changed is sent, null and lists too', () => {
  const before = {
    shop_name: 'Tea House',
    shop_logo: null,
    redirect_hosts: ['shop.example'],
    expires_in: 60,
  };
  expect(changesOf(before, { ...before })).toEqual({});
  expect(changesOf(before, { ...before, redirect_hosts: ['shop.example'] })).toEqual({});
  expect(changesOf<object>(before, { ...before, shop_name: null, redirect_hosts: [] })).toEqual({
    shop_name: null,
    redirect_hosts: [],
  });
});
