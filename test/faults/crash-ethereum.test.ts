import { absentServices } from './crash-absent.ts';
import { failpointMatrix } from './failpoint-matrix.ts';
import { failpointSuites } from './failpoint-rows.ts';

absentServices(failpointMatrix(failpointSuites.ethereum));
