/** Rows of a query as a table. */
export function Rows({ columns, rows, label }: { columns: string[]; rows: Record<string, unknown>[]; label: string }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
    <div tabIndex={0} role="region" aria-label={label} className="max-h-96 overflow-auto rounded-lg border border-line">
      <table className="w-full border-collapse text-left text-[13px]">
        <thead className="sticky top-0 bg-sunken">
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" className="px-3 py-1.5 font-medium whitespace-nowrap">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- rows have no names
            <tr key={index} className="border-t border-line">
              {columns.map((column) => (
                <td key={column} className="max-w-80 truncate px-3 py-1.5 font-mono text-xs">
                  {row[column] === null ? <span className="text-mute">NULL</span> : typeof row[column] === 'object' ? JSON.stringify(row[column]) : String(row[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
