// In place of @vscode/spdlog, which is C++: VS Code's logs, output channels among them. Each line is
// in the file at once; files aren't rotated.
const fs = require('node:fs')
const path = require('node:path')

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'critical']

class Logger {
  #file
  #level = levels.indexOf('info')
  #bare = false

  constructor(_type, _name, file) {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    this.#file = fs.openSync(file, 'a')
  }

  getLevel() {
    return this.#level
  }
  setLevel(level) {
    this.#level = level
  }
  setPattern() {}
  clearFormatters() {
    this.#bare = true
  }
  flush() {}
  drop() {
    if (this.#file !== undefined) fs.closeSync(this.#file)
    this.#file = undefined
  }

  write(level, message) {
    if (this.#file === undefined || levels.indexOf(level) < this.#level) return
    fs.writeSync(this.#file, this.#bare ? message : `${new Date().toISOString()} [${level}] ${message}\n`)
  }
}
for (const level of levels) {
  Logger.prototype[level] = function (message) {
    this.write(level, message)
  }
}

const create = async (name, file) => new Logger('rotating', name, file)
exports.version = 0 // one by one: what an import takes by name is found by reading
exports.Logger = Logger
exports.setLevel = () => {}
exports.setFlushOn = () => {}
exports.createRotatingLogger = create
exports.createAsyncRotatingLogger = create
