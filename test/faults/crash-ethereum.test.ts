import { failpointMatrix } from './failpoint-matrix.ts';
import { failpointSuites } from './failpoint-rows.ts';

failpointMatrix(failpointSuites.ethereum);
