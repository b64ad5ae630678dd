// breaks: shared-stands-alone
import { reader } from '../../chains/src/reader.ts';

export const bus = reader;
