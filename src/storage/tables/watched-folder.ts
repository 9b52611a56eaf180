/** A watched folder as it is stored. */

/** What its owner asked for (interface 2.5 and the optional fields beyond it). */
export interface WatchSettings {
  readonly connectionId: string;
  readonly name: string;
  readonly path: string;
  readonly filePattern: string | null;
  readonly excludePattern: string | null;
  readonly doneFile: string | null;
  readonly scheduleMinutes: number;
  readonly webhookUrl: string | null;
  readonly source: string;
  readonly detectModified: boolean;
  readonly recursive: boolean;
  readonly initial: 'ignore' | 'report';
  readonly minAgeSeconds: number;
  readonly afterDelivery: 'keep' | 'move' | 'delete';
  readonly moveTo: string | null;
  readonly expectEveryMinutes: number | null;
}

export interface WatchedFolder extends WatchSettings {
  readonly id: string;
  readonly accountId: string;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly nextCheckAt: Date;
  readonly baselineAt: Date | null;
  readonly timeResolutionMs: number;
  readonly lastSuccessAt: Date | null;
  readonly lastDetectionAt: Date | null;
  readonly alarmedAt: Date | null;
  /** Since when every check has failed, and the last one's error. */
  readonly failingSince: Date | null;
  readonly failures: number;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** The receiver answered 410: nothing is sent any more. */
  readonly deliveriesEndedAt: Date | null;
  /** Which names it took at its last check, where they have been changed since. */
  readonly formerNames: FolderNames | null;
}

/** Which files a folder takes, by their names. */
export type FolderNames = Pick<WatchSettings, 'filePattern' | 'excludePattern' | 'doneFile' | 'recursive'>;
