import { absentServices } from './crash-without-failpoints.ts';
import { failpointMatrix } from './failpoint-matrix.ts';
import { failpointSuites } from './failpoint-rows.ts';

absentServices(failpointMatrix(failpointSuites.ethereum));
