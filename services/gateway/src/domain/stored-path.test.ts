import { expect, test } from '@jest/globals';
import { storedPath } from './stored-path.ts';

test('a path is kept without the tokens that stand in it', () => {
  expect(storedPath('/api/invoices/inv_1')).toBe('/api/invoices/inv_1');
  expect(storedPath(`/api/tokens/qt_${'a'.repeat(49)}/rotate`)).toBe('/api/tokens/qt_…/rotate');
  expect(storedPath('/api/invitations/qi_abc')).toBe('/api/invitations/qi_…');
  // Also one that the end of what is kept cuts off.
  expect(storedPath(`/${'x'.repeat(290)}/qt_secret12345`)).not.toContain('secret');
  expect(storedPath('x'.repeat(400))).toHaveLength(300);
});
