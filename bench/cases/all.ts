import type { BenchCase } from '../scenario.js';
import { base64 } from './base64.js';
import { claims } from './claims.js';
import { events } from './events.js';
import { far } from './far.js';
import { firstScreen } from './first-screen.js';
import { followers } from './followers.js';
import { jobs } from './jobs.js';
import { large } from './large.js';
import { memory } from './memory.js';
import { mixed } from './mixed.js';
import { nodes } from './nodes.js';
import { operations } from './operations.js';
import { parallel } from './parallel.js';
import { pools } from './pools.js';
import { s3Front } from './s3-front.js';
import { watchedEntries, watchedFolders } from './watch.js';
import { ways } from './ways.js';

export const CASES: readonly BenchCase[] = [
  operations,
  large,
  far,
  ways,
  parallel,
  base64,
  mixed,
  memory,
  pools,
  jobs,
  events,
  claims,
  followers,
  nodes,
  watchedEntries,
  watchedFolders,
  s3Front,
  firstScreen,
];
