/** Apart from the schemas, so that a run that only writes lines does not load them. */
export const streamJsonVersion = "1.0";
