import type { Design } from '../design.ts';
import { depositDesigns } from './deposits.ts';
import { holdDesigns } from './holds.ts';
import { inboxDesigns } from './inboxes.ts';
import { messageDesigns } from './messages.ts';
import { signingDesigns } from './signing.ts';
import { storageDesigns } from './storage.ts';
import { theftDesigns } from './thefts.ts';

/** Every wrong design that the simulation has to find. */
export const designs: readonly Design[] = [
  ...messageDesigns,
  ...holdDesigns,
  ...signingDesigns,
  ...depositDesigns,
  ...storageDesigns,
  ...theftDesigns,
  ...inboxDesigns,
];
