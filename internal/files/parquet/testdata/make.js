// Writes the fixtures of this folder and of internal/files/arrow/testdata with DuckDB, Polars
// and Arrow for JavaScript:
//
//	npm install @duckdb/node-api@1.5.6-r.1 nodejs-polars@0.26.1 apache-arrow@21.2.0
//	NODE_PATH=node_modules node make.js
//
// All hold the same 12 rows: id "s0" to "s11", num 10 i, image [i, i+1/8, i+2/8,
// i+3/8] or null where i mod 4 is 2, text [-i, -i-1/4, -i-2/4] or null where i mod 5 is
// 3, price i/2, and label "a", "b" or "c" by i mod 3.
const fs = require('fs')
const path = require('path')
const { DuckDBInstance } = require('@duckdb/node-api')
const pl = require('nodejs-polars')
const arrow = require('apache-arrow')

const here = (name) => path.join(__dirname, name)
const ipc = (name) => path.join(__dirname, '..', '..', 'arrow', 'testdata', name)
const rows = [...Array(12).keys()]
const image = rows.map((i) => (i % 4 === 2 ? null : [0, 1, 2, 3].map((k) => i + k / 8)))
const text = rows.map((i) => (i % 5 === 3 ? null : [0, 1, 2].map((k) => -i - k / 4)))

async function duckdb() {
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const query = (images, texts) => `SELECT 's' || i AS id, 10 * i::INTEGER AS num,
    (CASE WHEN i % 4 = 2 THEN NULL ELSE [i, i + 0.125, i + 0.25, i + 0.375] END)::${images} AS image,
    (CASE WHEN i % 5 = 3 THEN NULL ELSE [-i, -i - 0.25, -i - 0.5] END)::${texts} AS text,
    i / 2 AS price, chr((97 + i % 3)::INTEGER) AS label, DATE '2024-01-01' + i::INTEGER AS day
    FROM range(12) r(i)`
  const write = (name, images, texts, options) =>
    db.run(`COPY (${query(images, texts)}) TO '${here(name)}' (FORMAT parquet, ${options})`)
  await write('duckdb.parquet', 'FLOAT[]', 'DOUBLE[]', 'COMPRESSION snappy')
  await write('duckdb-v2.parquet', 'FLOAT[]', 'DOUBLE[]', 'COMPRESSION zstd, PARQUET_VERSION V2')
  // With the fault of duckdb/duckdb#24731: null arrays have elements.
  await write('duckdb-array.parquet', 'FLOAT[4]', 'DOUBLE[3]', 'COMPRESSION lz4_raw')
}

function polars() {
  const df = pl.DataFrame({
    id: rows.map((i) => 's' + i),
    num: pl.Series('num', rows.map((i) => 10 * i), pl.Int32),
    image: pl.Series('image', image, pl.List(pl.Float32)),
    text: pl.Series('text', text, pl.List(pl.Float64)),
    price: rows.map((i) => i / 2),
    label: rows.map((i) => 'abc'[i % 3]),
  })
  df.writeParquet(here('polars.parquet'), { compression: 'zstd' })
  df.writeIPC(ipc('polars.arrow'), { compression: 'uncompressed' })
  df.writeIPC(ipc('polars-lz4.arrow'), { compression: 'lz4' })
  df.writeIPCStream(ipc('polars-zstd.arrows'), { compression: 'zstd' })
  const categories = df.withColumns(pl.col('id').cast(pl.Categorical), pl.col('label').cast(pl.Categorical))
  categories.writeIPC(ipc('polars-categories.arrow'), { compression: 'uncompressed' })
}

function javascript() {
  const list = (size, type) => new arrow.FixedSizeList(size, new arrow.Field('item', type, true))
  const column = (values, type) => arrow.vectorFromArray(values, type)
  const table = new arrow.Table({
    id: column(rows.map((i) => 's' + i), new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())),
    num: column(rows.map((i) => 10 * i), new arrow.Int32()),
    image: column(image, list(4, new arrow.Float32())),
    text: column(text, list(3, new arrow.Float64())),
    price: column(rows.map((i) => i / 2), new arrow.Float64()),
    label: column(rows.map((i) => 'abc'[i % 3]), new arrow.Utf8()),
  })
  fs.writeFileSync(ipc('javascript.arrow'), arrow.tableToIPC(table, 'file'))
}

duckdb().then(polars).then(javascript)
