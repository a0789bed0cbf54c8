package config

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"text/tabwriter"

	"errand/internal/redact"
)

// Setting is one row of `errand config`.
type Setting struct {
	Name    string // ERRAND_API_LISTEN
	Value   string // what holds now: the environment's or the default; masked if secret; "" if not set
	Default string
	Unit    string
	Meaning string
	Set     bool // the environment gives it
}

// Section is the settings of one process.
type Section struct {
	Process string // e.g. "worker"
	About   string // what the process is, in a few words
	// Spec points to the process's settings struct. Its values are not read: the environment is.
	Spec any
}

// mask stands for a secret that is set; its length says nothing about the secret's.
const mask = "********"

// Settings describes every setting of spec, a pointer to a struct, in the order of its fields.
func Settings(spec any) []Setting {
	var rows []Setting
	for _, f := range fields(reflect.ValueOf(spec).Elem()) {
		row := Setting{Name: f.name(), Default: f.typ.Tag.Get("default"), Unit: f.typ.Tag.Get("unit"),
			Meaning: f.typ.Tag.Get("desc"), Set: f.set()}
		row.Value = row.Default
		if row.Set {
			row.Value = os.Getenv(row.Name)
		}
		switch {
		case f.secret() && row.Value != "":
			row.Value = mask
		case f.typ.Tag.Get("secret") == "url":
			row.Value = redact.URL(row.Value)
		}
		if f.typ.Tag.Get("required") == "true" && row.Default == "" {
			row.Default = "required"
		}
		rows = append(rows, row)
	}
	return rows
}

// Temporal describes the variables of the Temporal client, whose convention is Temporal's own.
func Temporal() []Setting {
	rows := []Setting{
		{Name: "TEMPORAL_ADDRESS", Default: "127.0.0.1:7233", Meaning: "host:port of the Temporal frontend"},
		{Name: "TEMPORAL_NAMESPACE", Default: "default", Meaning: "namespace of the plans"},
		{Name: "TEMPORAL_API_KEY", Meaning: "API key of Temporal Cloud"},
		{Name: "TEMPORAL_TLS", Meaning: "true to use TLS; certificates by TEMPORAL_TLS_CLIENT_CERT_PATH and the like"},
		{Name: "TEMPORAL_PROFILE", Default: "default", Meaning: "profile in the configuration file"},
		{Name: "TEMPORAL_CONFIG_FILE", Meaning: "configuration file instead of temporalio/temporal.toml"},
	}
	for i := range rows {
		rows[i].Value, rows[i].Set = os.LookupEnv(rows[i].Name)
		if !rows[i].Set {
			rows[i].Value = rows[i].Default
		}
		if rows[i].Name == "TEMPORAL_API_KEY" && rows[i].Value != "" {
			rows[i].Value = mask
		}
	}
	return rows
}

// Write prints the settings of processes, a table each. A value the environment gives is marked with *.
func Write(w io.Writer, sections ...Section) error {
	for _, s := range sections {
		if err := writeSection(w, s.Process, s.About, Settings(s.Spec)); err != nil {
			return err
		}
	}
	return nil
}

// WriteTemporal prints the settings of the Temporal client.
func WriteTemporal(w io.Writer) error {
	return writeSection(w, "temporal client", "every process that uses Temporal; its own convention", Temporal())
}

func writeSection(w io.Writer, process, about string, rows []Setting) error {
	if _, err := fmt.Fprintf(w, "%s: %s\n", process, about); err != nil {
		return err
	}
	return writeRows(w, rows)
}

func writeRows(w io.Writer, rows []Setting) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "  NAME\tVALUE\tDEFAULT\tUNIT\tMEANING")
	for _, r := range rows {
		value := orDash(r.Value)
		if r.Set {
			value += "*"
		}
		fmt.Fprintf(tab, "  %s\t%s\t%s\t%s\t%s\n", r.Name, value, orDash(r.Default), orDash(r.Unit), r.Meaning)
	}
	fmt.Fprintln(tab)
	return tab.Flush() // reports the first error of all the writes above
}

func orDash(s string) string {
	if strings.TrimSpace(s) == "" {
		return "-"
	}
	return s
}
