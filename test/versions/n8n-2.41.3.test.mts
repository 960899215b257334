import { testVersion } from './support/testVersion.mts';

testVersion('2.41.3');
