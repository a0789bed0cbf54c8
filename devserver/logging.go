package main

import (
	"io"

	"go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// serverLog is the one logger of the server and its services.
type serverLog struct {
	log.Logger
	level zap.AtomicLevel
}

// newServerLog writes to w. When the server finds that it cannot go on, it logs and ends
// the process from wherever it is; onFatal is called before that.
func newServerLog(w io.Writer, level, format string, onFatal func()) *serverLog {
	encoding := zap.NewProductionEncoderConfig()
	encoding.EncodeTime = zapcore.ISO8601TimeEncoder
	encoder := zapcore.NewConsoleEncoder(encoding)
	if format == "json" {
		encoder = zapcore.NewJSONEncoder(encoding)
	}
	atomic := zap.NewAtomicLevelAt(zapLevel(level))
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), atomic)
	return &serverLog{
		Logger: log.NewZapLogger(zap.New(core, zap.WithFatalHook(fatalHook(onFatal)))),
		level:  atomic,
	}
}

// hush drops all but fatal errors. Stopping in one process makes each service complain
// about the ones that stopped before it.
func (l *serverLog) hush() {
	l.level.SetLevel(zapcore.FatalLevel)
}

// zapLevel maps --log-level, which options has checked.
func zapLevel(level string) zapcore.Level {
	if level == "never" {
		return zapcore.FatalLevel // a reason for ending is never withheld
	}
	return log.ParseZapLevel(level)
}

// fatalHook cleans up where zap would only end the process.
type fatalHook func()

// OnWrite is called after the fatal entry has been written. It ends the process with
// exit code 1.
func (hook fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	hook()
	zapcore.WriteThenFatal.OnWrite(entry, fields)
}
