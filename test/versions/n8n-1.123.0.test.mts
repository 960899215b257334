import { testVersion } from './support/testVersion.mts';

testVersion('1.123.0');
