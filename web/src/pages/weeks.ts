/** ISO weeks, as leaderboards have them: `2026-W48` is Monday to Sunday, in UTC. Pure. */

const DAY_MS = 86_400_000;
const THURSDAY = 4;

/** The Monday of this week. */
export function mondayOf(week: string): Date {
  const [year = 0, number = 0] = week.split("-W").map(Number);
  // The 4th of January is in the first week of its year.
  const fourth = Date.UTC(year, 0, 4);
  return new Date(fourth + ((number - 1) * 7 - (dayOf(fourth) - 1)) * DAY_MS);
}

export const sundayOf = (week: string): Date => new Date(mondayOf(week).getTime() + 6 * DAY_MS);

/** The week so many weeks later. */
export const weekAfter = (week: string, weeks = 1): string => weekOf(new Date(mondayOf(week).getTime() + weeks * 7 * DAY_MS));

export function weekOf(day: Date): string {
  // A week belongs to the year of its Thursday.
  const thursday = new Date(day.getTime() + (THURSDAY - dayOf(day.getTime())) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const number = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
  return `${year}-W${String(number).padStart(2, "0")}`;
}

/** Monday is 1, Sunday 7. */
const dayOf = (ms: number): number => new Date(ms).getUTCDay() || 7;
