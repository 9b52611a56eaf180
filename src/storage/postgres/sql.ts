import type postgres from 'postgres';
import type { DriverTypes } from './driver-types.js';

/** The driver, with the typed parameters of this program. */
export type Sql = postgres.Sql<DriverTypes>;
export type Transaction = postgres.TransactionSql<DriverTypes>;
