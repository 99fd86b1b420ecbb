package com.fasterxml.jackson.datatype.jsr310;

/** Stands for the class of this name, so that a generated client can be compiled without its library. */
public class JavaTimeModule extends com.fasterxml.jackson.databind.module.SimpleModule {}
