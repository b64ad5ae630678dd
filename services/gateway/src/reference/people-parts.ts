import { id, message, oneOf, text } from '@quittance/shared/answer-schemas';
import type { ErrorCode } from '@quittance/shared/error-codes';
import { z } from 'zod';
import { roles } from '../domain/roles.ts';

/** What the operations of people have in common. */

export const personId = id('per', 'The id of the person.');
export const email = text('The e-mail address.');
export const role = oneOf(roles, 'What the person may do in the account.');

export const listOf = (name: string, one: z.ZodType) =>
  z.strictObject({ data: z.array(one).describe('All of them.') }).meta({ id: name });
export const said = z.strictObject({ message });
export const own = ['missing_role', 'foreign_origin'] as const satisfies ErrorCode[];
export const again = [...own, 'step_up_needed'] as const satisfies ErrorCode[];
export const ofOne = ['not_found', 'route_not_found'] as const satisfies ErrorCode[];
export const needsAgain = 'Needs that the person has signed in or stepped up within ten minutes.';
