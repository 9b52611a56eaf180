/** The entry that gets the focus in the next folder: for keyboard users, the folder they came from after going up. */
interface Arrival {
  readonly place: string;
  readonly name: string;
}

let arrival: Arrival | undefined;

const placeOf = (connectionId: string, path: string | undefined): string => JSON.stringify([connectionId, path]);

export function arriveAt(connectionId: string, path: string, name: string): void {
  arrival = { place: placeOf(connectionId, path), name };
}

/** The name of the entry; undefined if the user did not navigate to this folder. */
export function arrivalIn(connectionId: string, path: string | undefined): string | undefined {
  return arrival?.place === placeOf(connectionId, path) ? arrival.name : undefined;
}

export function arrived(): void {
  arrival = undefined;
}
