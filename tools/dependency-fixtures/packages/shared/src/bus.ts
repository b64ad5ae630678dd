// breaks: shared-imports-no-package
import { reader } from '../../chains/src/reader.ts';

export const bus = reader;
