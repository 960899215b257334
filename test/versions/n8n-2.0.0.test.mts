import { testVersion } from './support/testVersion.mts';

testVersion('2.0.0');
